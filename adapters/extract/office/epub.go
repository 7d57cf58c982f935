package office

import (
	"net/url"
	"path"
	"strings"

	"github.com/mnemehq/mneme/adapters/extract/markup"
	"github.com/mnemehq/mneme/core/port"
)

// obfuscations are of fonts alone: that of EPUB 3.3, 4.4, and Adobe's.
var obfuscations = map[string]bool{"http://www.idpf.org/2008/embedding": true, "http://ns.adobe.com/pdf/enc#RC": true}

// epub reads the chapters of a book (EPUB 3.3) in the order of its spine.
func (a *archive) epub(w *writer, x *port.Extracted) error {
	const encryption = "META-INF/encryption.xml"
	if a.has(encryption) {
		err := a.walk(encryption, funcs{onStart: func(name string, at attributes) error {
			if name == "EncryptionMethod" && !obfuscations[at.get("Algorithm")] {
				return encryptedFile()
			}
			return nil
		}})
		if err != nil {
			return err
		}
	}
	var main string
	err := a.walk("META-INF/container.xml", funcs{onStart: func(name string, at attributes) error {
		if name == "rootfile" && main == "" {
			main = at.get("full-path")
		}
		return nil
	}})
	if err != nil {
		return err
	}
	if err := a.properties(main, x); err != nil {
		return err
	}
	files, contents := map[string]string{}, ""
	var spine []string
	err = a.walk(main, funcs{onStart: func(name string, at attributes) error {
		switch name {
		case "item":
			href, err := url.PathUnescape(at.get("href"))
			if err != nil {
				return port.FileErrorf(port.FileBroken, err, "is broken: it names a chapter %.100q", at.get("href"))
			}
			if files[at.get("id")] = path.Join(path.Dir(main), href); strings.Contains(at.get("properties"), "nav") {
				contents = at.get("id")
			}
		case "itemref":
			if at.get("idref") != contents {
				spine = append(spine, at.get("idref"))
			}
		}
		return nil
	}})
	if err != nil {
		return err
	}
	for _, id := range spine {
		page, err := a.read(files[id])
		if err != nil {
			return err
		}
		text, _, err := markup.HTML(page, "")
		if err != nil {
			return broken(err)
		}
		if w.size += len(text); strings.TrimSpace(text) != "" {
			w.sections = append(w.sections, port.Section{Text: text})
		}
		if err := w.full(); err != nil {
			return err
		}
	}
	return nil
}
