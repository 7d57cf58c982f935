package console_test

import (
	"math"
	"os"
	"regexp"
	"strconv"
	"testing"
)

// luminance is that of WCAG 2.2.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	n, err := strconv.ParseUint(hex, 16, 24)
	if err != nil {
		t.Fatal(err)
	}
	linear := func(c uint64) float64 {
		x := float64(c&0xff) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(n>>16) + 0.7152*linear(n>>8) + 0.0722*linear(n)
}

// Every colour of text can be read on what it stands on, and every border of a field be seen, in
// both themes.
func TestColoursHaveContrast(t *testing.T) {
	css, err := os.ReadFile("static/console.css")
	if err != nil {
		t.Fatal(err)
	}
	colours := map[string][2]string{}
	pair := regexp.MustCompile(`--([a-z-]+): light-dark\(#([0-9a-f]{6}), #([0-9a-f]{6})\);`)
	for _, m := range pair.FindAllStringSubmatch(string(css), -1) {
		colours[m[1]] = [2]string{m[2], m[3]}
	}
	for _, pair := range []struct {
		front, back string
		least       float64
	}{
		{"ink", "paper", 7}, {"ink", "surface", 7}, {"ink", "sunk", 7}, {"ink", "mark", 7}, {"ink", "warn-wash", 7},
		{"soft", "paper", 4.5}, {"soft", "surface", 4.5}, {"soft", "sunk", 4.5},
		{"accent", "paper", 4.5}, {"accent", "surface", 4.5}, {"accent", "wash", 4.5}, {"accent", "warn-wash", 4.5},
		{"on-accent", "accent", 4.5},
		{"good", "surface", 4.5}, {"good", "paper", 4.5}, {"warn", "surface", 4.5}, {"warn", "paper", 4.5},
		{"warn", "warn-wash", 4.5},
		{"bad", "surface", 4.5}, {"bad", "paper", 4.5},
		{"edge", "surface", 3}, {"edge", "paper", 3},
	} {
		for theme := range 2 {
			if len(colours[pair.front][theme]) == 0 || len(colours[pair.back][theme]) == 0 {
				t.Fatalf("%s or %s is no colour", pair.front, pair.back)
			}
			a, b := luminance(t, colours[pair.front][theme]), luminance(t, colours[pair.back][theme])
			if ratio := (max(a, b) + 0.05) / (min(a, b) + 0.05); ratio < pair.least {
				t.Errorf("theme %d: %s on %s has contrast %.2f, want %v", theme, pair.front, pair.back, ratio, pair.least)
			}
		}
	}
}
