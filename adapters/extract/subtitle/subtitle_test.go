package subtitle_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/mnemehq/mneme/adapters/extract"
	"github.com/mnemehq/mneme/adapters/extract/extracttest"
	"github.com/mnemehq/mneme/adapters/extract/subtitle"
	"github.com/mnemehq/mneme/core/port"
)

const (
	srt = "1\n00:00:01,000 --> 00:00:03,000\nThe shop opens\n\n2\n00:00:03,500 --> 00:00:05,000\n<i>at seven</i>.\n\n" +
		"3\n01:02:08,000 --> 01:02:09,000\nAfter a pause.\n"
	vtt = "WEBVTT\n\nNOTE a comment\n\n00:01.000 --> 00:03.000\n<v Ann>The shop opens\n\n00:03.500 --> 01:30.000\nat seven.\n\n" +
		"01:30.500 --> 01:31.000\nMuch later.\n"
)

func TestSubtitles(t *testing.T) {
	file := func(name, media, content string) port.File {
		return port.File{Name: name, MediaType: media, Content: []byte(content)}
	}
	const srtType, vttType = "application/x-subrip", "text/vtt"
	extracttest.Run(t, extracttest.Suite{
		Open: func(*testing.T) port.Extractor { return subtitle.New() },
		Samples: []extracttest.Sample{
			{File: file("a.srt", srtType, srt),
				Text:  []string{"[00:00:01] The shop opens at seven.\n\n[01:02:08] After a pause."},
				Never: []string{"<i>", "-->"}},
			{File: file("a.vtt", vttType, vtt),
				Text:  []string{"[00:00:01] Ann: The shop opens at seven.\n\n[00:01:30] Much later."},
				Never: []string{"comment"}},
			{File: file("long.srt", srtType, "1\n01:00:00,000 --> 01:00:02,000\nOne\n\n2\n01:00:04,000 --> 01:00:59,000\ntwo\n\n"+
				"3\n01:01:00,000 --> 01:01:00,500\nthree.\n\n4\n01:01:00,600 --> 01:01:02,000\nFour.\n\n"+
				"5\n01:01:04,001 --> 01:01:05,000\nFive.\n"),
				Text: []string{"[01:00:00] One two three.\n\n[01:01:00] Four.\n\n[01:01:04] Five."}},
			{File: port.File{Name: "old.srt", MediaType: srtType, Charset: "windows-1252",
				Content: []byte("1\n00:00:01,000 --> 00:00:03,000\nGr\xfc\xdfe\n")}, Text: []string{"Grüße"}},
		},
		Refused: []extracttest.Refused{
			{Name: "no cue", File: file("a.srt", srtType, "hello\n"), Code: port.FileNoText},
			{Name: "no text in it", File: file("a.vtt", vttType, "WEBVTT\n\n00:01.000 --> 00:03.000\n\n"), Code: port.FileNoText},
			{Name: "bad time", File: file("a.srt", srtType, "1\n00:xx:01,000 --> 00:00:03,000\nx\n"), Code: port.FileBroken},
			{Name: "another charset", File: port.File{Name: "a.srt", Charset: "utf-8", Content: []byte("1\n\xff")},
				Code: port.FileBroken},
		},
	})
}

func FuzzSubtitles(f *testing.F) {
	f.Add(srt, true)
	f.Add(vtt, false)
	f.Fuzz(func(t *testing.T, content string, first bool) {
		e := extract.New(extract.Settings{}, subtitle.New())
		name := "a.vtt"
		if first {
			name = "a.srt"
		}
		_, err := e.Extract(t.Context(), port.File{Name: name, Content: []byte(content)})
		if err != nil && !errors.As(err, new(*port.FileError)) {
			t.Fatal(err)
		}
	})
}

func BenchmarkSubtitles(b *testing.B) {
	var cues, hours strings.Builder
	hours.WriteString("WEBVTT\n\n")
	for i := range 5000 {
		at := fmt.Sprintf("%02d:%02d:%02d", i/3600, i/60%60, i%60)
		fmt.Fprintf(&cues, "%d\n%s,000 --> %s,900\nThe shop opens at seven, and closes\nlater than it did.\n\n", i+1, at, at)
		fmt.Fprintf(&hours, "%s.000 --> %s.900\nThe shop opens at seven, and closes\nlater than it did.\n\n", at, at)
	}
	extracttest.Bench(b, subtitle.New(),
		port.File{Name: "a.srt", MediaType: "application/x-subrip", Content: []byte(cues.String())},
		port.File{Name: "a.vtt", MediaType: "text/vtt", Content: []byte(hours.String())})
}
