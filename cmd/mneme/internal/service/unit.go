package service

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// Spec is a service to install.
type Spec struct {
	Name    string
	Program string   // full path
	Args    []string // of the program
	Data    string   // folder; "": systemd gives the service one of its own
	System  bool     // of the machine, not of a user
	User    string   // whom a service of the machine runs as; "": systemd invents one
}

// Description is what the system shows of the service.
const Description = "Mneme, a memory and document retrieval server"

// stopSeconds is how long the system waits for the end of a server, which lets calls finish
// for up to 125 s unless it is configured otherwise.
const stopSeconds = 150

// ErrText is the error of a path or an argument that no unit can hold.
var ErrText = errors.New("a path or an argument has a control character or {{ in it, which service files can't hold")

// check refuses what would be read as more than text.
func (s Spec) check() error {
	for _, text := range append([]string{s.Name, s.Program, s.Data, s.User}, s.Args...) {
		if strings.ContainsFunc(text, unicode.IsControl) || strings.Contains(text, "{{") {
			return ErrText
		}
	}
	return nil
}

// Systemd is the unit file. The journal keeps the log and rotates it.
func Systemd(s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[Unit]\nDescription=%s\n", Description)
	if s.System {
		b.WriteString("Wants=network-online.target\nAfter=network-online.target\n")
	}
	fmt.Fprintf(&b, "\n[Service]\nType=exec\nExecStart=%s", quote(s.Program))
	for _, a := range s.Args {
		b.WriteString(" " + quote(a))
	}
	fmt.Fprintf(&b, "\nExecReload=/bin/kill -HUP $MAINPID\nRestart=on-failure\nRestartSec=5\nTimeoutStopSec=%d\nUMask=0077\n"+
		"NoNewPrivileges=yes\n", stopSeconds)
	if s.System {
		if s.User == "" { // /var/lib and /var/cache, for a user that exists while it runs
			fmt.Fprintf(&b, "DynamicUser=yes\nStateDirectory=%s\nStateDirectoryMode=0700\nCacheDirectory=%s\n"+
				"Environment=MNEME_DATA=%%S/%s MNEME_CACHE=%%C/%s\n", s.Name, s.Name, s.Name, s.Name)
		} else {
			fmt.Fprintf(&b, "User=%s\n", s.User)
		}
		b.WriteString("PrivateTmp=yes\nProtectSystem=full\n")
	}
	fmt.Fprintf(&b, "\n[Install]\nWantedBy=%s\n", target(s))
	return b.String(), nil
}

// target is what brings the service up: the machine's start, or a user's session.
func target(s Spec) string {
	if s.System {
		return "multi-user.target"
	}
	return "default.target"
}

// quote writes a word of a command line as systemd reads it.
func quote(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `%`, `%%`, `$`, `$$`).Replace(word) + `"`
}

// Launchd is the property list of an agent or a daemon. It has no ProcessType: Background, which services are
// often given, is for work that nobody waits for, and slows down answers (launchd.plist(5)).
func Launchd(s Spec) (string, error) {
	if err := s.check(); err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString(xml.Header + `<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" ` +
		`"http://www.apple.com/DTDs/PropertyList-1.0.dtd">` + "\n<plist version=\"1.0\">\n<dict>\n")
	entry := func(key, value string) { fmt.Fprintf(&b, "\t<key>%s</key>\n\t%s\n", key, value) }
	entry("Label", text(s.Name))
	b.WriteString("\t<key>ProgramArguments</key>\n\t<array>\n")
	for _, a := range append([]string{s.Program}, s.Args...) {
		b.WriteString("\t\t" + text(a) + "\n")
	}
	b.WriteString("\t</array>\n")
	entry("RunAtLoad", "<true/>")
	entry("KeepAlive", "<dict>\n\t\t<key>SuccessfulExit</key>\n\t\t<false/>\n\t</dict>")
	entry("ThrottleInterval", "<integer>5</integer>")
	entry("ExitTimeOut", fmt.Sprintf("<integer>%d</integer>", stopSeconds))
	entry("Umask", "<integer>63</integer>")
	if s.System && s.User != "" {
		entry("UserName", text(s.User))
	}
	b.WriteString("</dict>\n</plist>\n")
	return b.String(), nil
}

func text(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(s)) // a buffer takes all
	return "<string>" + b.String() + "</string>"
}

var (
	inUnit  = regexp.MustCompile(`"--data" "((?:[^"\\]|\\.)*)"`)
	inPlist = regexp.MustCompile(`<string>--data</string>\s*<string>([^<]*)</string>`)
)

// DataIn is the data folder that a unit or property list names; "" where it names none.
func DataIn(unit string) string {
	if m := inUnit.FindStringSubmatch(unit); m != nil {
		return strings.NewReplacer(`\\`, `\`, `\"`, `"`, `%%`, `%`, `$$`, `$`).Replace(m[1])
	}
	if m := inPlist.FindStringSubmatch(unit); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

// dataAmong is the data folder that words of a command line name; "" where they name none.
func dataAmong(words []string) string {
	if i := slices.Index(words, "--data"); i >= 0 && i+1 < len(words) {
		return words[i+1]
	}
	return ""
}
