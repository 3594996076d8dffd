package main

import (
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
)

var (
	markdownCode  = regexp.MustCompile("(?ms)^```.*?^```$|`[^`\n]+`")
	markdownLink  = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	markdownTitle = regexp.MustCompile(`(?m)^#+ +(.+)$`)
)

// TestLinksOfThePagesLead follows every relative link of every page to its
// file and heading.
func TestLinksOfThePagesLead(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	links := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "node_modules" || d.Name() == ".git"):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		page, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range markdownLink.FindAllStringSubmatch(markdownCode.ReplaceAllString(string(page), ""), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			links++
			if err := follow(path, m[1]); err != nil {
				t.Errorf("%s: link to %s: %v", path, m[1], err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if links < 30 {
		t.Errorf("found only %d links", links)
	}
}

// follow looks for what a link on a page leads to.
func follow(page, link string) error {
	name, heading, hasHeading := strings.Cut(link, "#")
	name, err := url.PathUnescape(name)
	if err != nil {
		return err
	}
	target := page
	if name != "" {
		target = filepath.Join(filepath.Dir(page), name)
	}
	if !hasHeading {
		_, err := os.Stat(target)
		return err
	}
	text, err := os.ReadFile(target)
	if err != nil {
		return err
	}
	for _, m := range markdownTitle.FindAllStringSubmatch(string(text), -1) {
		if anchor(m[1]) == heading {
			return nil
		}
	}
	return fmt.Errorf("%s has no such heading", target)
}

// anchor returns what GitHub makes of a heading.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
