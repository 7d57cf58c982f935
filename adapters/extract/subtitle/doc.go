// Package subtitle reads subtitles and transcripts (SRT, WebVTT) as paragraphs that begin
// with their time.
package subtitle
