package kit_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"strings"
	"testing"
	"time"

	"github.com/mnemehq/mneme/plugins/kit"
)

// TestFindings: of several findings of one id the first failure is kept, and they stand in the
// order of their first records.
func TestFindings(t *testing.T) {
	l := kit.NewFindings()
	l.Expect("a", "is a", true, "not %d", 1)
	l.Skip("b", "is b", "nothing there")
	l.Expect("a", "is a", false, "not %d", 2)
	l.Expect("a", "is a", false, "not %d", 3)
	l.Expect("a", "is a", true, "")
	l.Expect("b", "is b", true, "")
	all := l.All()
	if len(all) != 2 || all[0].Outcome != kit.Failed || all[0].Saw != "not 2" || all[0].OK() || all[0].Expect != "is a" ||
		all[1].Outcome != kit.Passed || all[1].Saw != "" || !all[1].OK() || all[0].Took <= 0 {
		t.Errorf("%+v", all)
	}
	if kit.Count(all, kit.Failed) != 1 || kit.Count(all, kit.Passed) != 1 || kit.Count(all, kit.Skipped) != 0 {
		t.Errorf("%+v", all)
	}
	if none := kit.NewFindings().All(); none == nil || len(none) != 0 {
		t.Errorf("%#v", none)
	}
	skipped := kit.Finding{ID: "c", Outcome: kit.Skipped, Saw: "why"}
	if !skipped.OK() {
		t.Error("what was skipped failed")
	}
	kit.Subtests(t, []kit.Finding{all[1], skipped})
}

// TestGrowth: memory is flat while the last quarter holds what the third one did, give or take.
func TestGrowth(t *testing.T) {
	samples := func(first, second, third, fourth int64) []int64 {
		var all []int64
		for _, n := range []int64{first, second, third, fourth} {
			all = append(all, n<<20, n<<20, n<<20)
		}
		return all
	}
	for name, c := range map[string]struct {
		samples []int64
		third   int64
		grown   int64
		flat    bool
	}{
		"flat":                    {samples(1, 50, 100, 100), 100 << 20, 0, true},
		"within three percent":    {samples(1, 50, 100, 103), 100 << 20, 3 << 20, true},
		"more":                    {samples(1, 50, 100, 104), 100 << 20, 4 << 20, false},
		"a megabyte of little":    {samples(1, 1, 10, 11), 10 << 20, 1 << 20, true},
		"two megabytes of little": {samples(1, 1, 10, 12), 10 << 20, 2 << 20, false},
		"less":                    {samples(1, 200, 100, 90), 100 << 20, -10 << 20, true},
		"nothing":                 {samples(0, 0, 0, 0), 0, 0, false},
		"too few":                 {samples(5, 5, 5, 5)[:kit.MinSamples-1], 0, 0, false},
		"just enough":             {[]int64{1, 1, 1, 1, 9 << 20, 9 << 20, 9 << 20, 9 << 20}, 9 << 20, 0, true},
		"an outlier": {[]int64{1, 1, 1, 1, 1, 1, 9 << 20, 9 << 20, 90 << 20, 9 << 20, 9 << 20, 90 << 20}, 9 << 20,
			0, true},
	} {
		third, grown, flat := kit.Growth(c.samples)
		if third != c.third || grown != c.grown || flat != c.flat {
			t.Errorf("%s: %d and %d more, flat: %v", name, third, grown, flat)
		}
	}
}

// TestWrite: what a program said is on one line of bounded length and steers no terminal.
func TestWrite(t *testing.T) {
	r := kit.Report{
		Name:       "acme",
		About:      []string{"acme, of two kinds"},
		Properties: [][2]string{{"version", "1"}},
		Findings: []kit.Finding{
			{ID: "a", Expect: "is a", Outcome: kit.Passed, Took: 1500 * time.Millisecond},
			{ID: "b", Expect: "is b", Outcome: kit.Skipped, Saw: "nothing\nthere"},
			{ID: "c", Expect: "is c", Outcome: kit.Failed, Saw: "\x1b[2J" + strings.Repeat("x", 500) + "\xff"},
		},
		Notes:   []string{"speed: none"},
		Started: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Took:    1234 * time.Millisecond,
	}
	var b bytes.Buffer
	if err := kit.WriteText(&b, r); err != nil {
		t.Fatal(err)
	}
	said := " [2J" + strings.Repeat("x", 396) + "..."
	want := "acme, of two kinds\nok    a: is a\nskip  b: is b; nothing there\nFAIL  c: is c; saw " + said +
		"\nspeed: none\n1 of 3 checks failed, 1 skipped, in 1.2s\n"
	if b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	b.Reset()
	if err := kit.WriteJUnit(&b, "mneme check", []kit.Report{r, {Name: "other"}}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Name     string `xml:"name,attr"`
		Tests    int    `xml:"tests,attr"`
		Failures int    `xml:"failures,attr"`
		Suites   []struct {
			Name       string `xml:"name,attr"`
			Tests      int    `xml:"tests,attr"`
			Failures   int    `xml:"failures,attr"`
			Skipped    int    `xml:"skipped,attr"`
			Time       string `xml:"time,attr"`
			Timestamp  string `xml:"timestamp,attr"`
			Properties []struct {
				Name  string `xml:"name,attr"`
				Value string `xml:"value,attr"`
			} `xml:"properties>property"`
			Cases []struct {
				Class   string `xml:"classname,attr"`
				Name    string `xml:"name,attr"`
				Time    string `xml:"time,attr"`
				Failure *struct {
					Message string `xml:"message,attr"`
					Text    string `xml:",chardata"`
				} `xml:"failure"`
				Skipped *struct {
					Message string `xml:"message,attr"`
				} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil || !strings.HasPrefix(b.String(), "<?xml") ||
		!strings.HasSuffix(b.String(), ">\n") {
		t.Fatalf("%v\n%s", err, b.String())
	}
	if doc.Name != "mneme check" || doc.Tests != 3 || doc.Failures != 1 || len(doc.Suites) != 2 {
		t.Errorf("%+v", doc)
	}
	s := doc.Suites[0]
	if s.Name != "acme" || s.Tests != 3 || s.Failures != 1 || s.Skipped != 1 || s.Time != "1.234" ||
		s.Timestamp != "2026-01-02T03:04:05Z" || s.Properties[0].Name != "version" || s.Properties[0].Value != "1" {
		t.Errorf("%+v", s)
	}
	if c := s.Cases; c[0].Class != "acme" || c[0].Name != "a" || c[0].Time != "1.500" || c[0].Failure != nil ||
		c[0].Skipped != nil ||
		c[1].Skipped == nil || c[1].Skipped.Message != "nothing there" || c[1].Failure != nil || c[2].Failure == nil ||
		c[2].Failure.Message != "is c" || c[2].Failure.Text != "saw "+said || c[2].Skipped != nil {
		t.Errorf("%+v", c)
	}
	b.Reset()
	if err := kit.WriteJSON(&b, []string{"<a>"}); err != nil || !json.Valid(b.Bytes()) ||
		b.String() != "{\n  \"reports\": [\n    \"<a>\"\n  ]\n}\n" {
		t.Errorf("%v\n%s", err, b.String())
	}
	if err := kit.Format("yaml").Unknown(); !strings.Contains(err.Error(), `"yaml"`) || len(kit.Formats()) != 3 {
		t.Errorf("%v, %v", err, kit.Formats())
	}
}

// TestWords: sizes and counts are for people.
func TestWords(t *testing.T) {
	for n, want := range map[int64]string{0: "0.0 kB", 1500: "1.5 kB", 1<<20 - 1: "1048.6 kB", 1 << 20: "1.0 MB",
		-1 << 20:   "-1.0 MB",
		-1<<20 + 1: "-1048.6 kB", 10<<20 - 1: "10.5 MB", 10 << 20: "10 MB", -10 << 20: "-10 MB", -10<<20 + 1: "-10.5 MB"} {
		if got := kit.Bytes(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
	for n, want := range map[int]string{0: "0 items", 1: "1 item", 2: "2 items"} {
		if got := kit.Pluralize(n, "item"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
