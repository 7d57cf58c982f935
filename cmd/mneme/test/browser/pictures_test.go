package browser_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/mnemehq/mneme/cmd/mneme/test/harness"
)

// images is where docs/console.md has its pictures.
const images = "../../../../docs/images"

// picturesOfTheDocs takes the pictures of docs/console.md, and holds the page and the folder to be of
// the same ones. With MNEME_SCREENSHOTS set (make screenshots) it writes them there.
func picturesOfTheDocs(t *testing.T, k tools, _ *harness.Server, link string) {
	folder := t.TempDir()
	var s struct{ Complaints, Overflow []string }
	k.run(t, &s, "pictures.mjs", link, folder)
	if len(s.Complaints) > 0 || len(s.Overflow) > 0 {
		t.Errorf("the browser complains: %q; these scroll sideways: %q", s.Complaints, s.Overflow)
	}
	taken := names(t, folder)
	if os.Getenv("MNEME_SCREENSHOTS") != "" {
		for _, name := range taken {
			keep(t, filepath.Join(folder, name), filepath.Join(images, name))
		}
	}
	page, err := os.ReadFile("../../../../docs/console.md")
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, m := range regexp.MustCompile(`\(images/(console-[a-z]+\.png)\)`).FindAllSubmatch(page, -1) {
		shown = append(shown, string(m[1]))
	}
	slices.Sort(shown)
	if kept := names(t, images); len(taken) == 0 || !slices.Equal(taken, kept) || !slices.Equal(taken, shown) {
		t.Errorf("taken %q, kept %q, shown %q: run make screenshots", taken, kept, shown)
	}
}

func names(t *testing.T, folder string) (all []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(folder, "console-*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		all = append(all, filepath.Base(f))
	}
	return all
}

// keep writes a picture with the 256 colours that it has most of: a third of the bytes, and nothing
// that a person would see, since pages have few colours beside the edges of letters.
func keep(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	full, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	b := full.Bounds()
	count := map[color.RGBA]int{}
	each := func(do func(x, y int, c color.RGBA)) {
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				do(x, y, color.RGBAModel.Convert(full.At(x, y)).(color.RGBA))
			}
		}
	}
	each(func(_, _ int, c color.RGBA) { count[c]++ })
	var most []color.RGBA
	for c := range count {
		most = append(most, c)
	}
	slices.SortFunc(most, func(a, b color.RGBA) int {
		if d := count[b] - count[a]; d != 0 {
			return d
		}
		return int(uint32(a.R)<<16|uint32(a.G)<<8|uint32(a.B)) - int(uint32(b.R)<<16|uint32(b.G)<<8|uint32(b.B))
	})
	var palette color.Palette
	for _, c := range most[:min(256, len(most))] {
		palette = append(palette, c)
	}
	few := image.NewPaletted(b, palette)
	nearest := map[color.RGBA]uint8{}
	each(func(x, y int, c color.RGBA) {
		i, known := nearest[c]
		if !known {
			i = uint8(palette.Index(c))
			nearest[c] = i
		}
		few.SetColorIndex(x, y, i)
	})
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, few); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}
