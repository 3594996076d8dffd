package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// browser is a headless Chromium, driven by WebDriver (w3.org/TR/webdriver2).
type browser struct {
	t   *testing.T
	url string // of the session
}

// openBrowser starts a browser for a test, or skips the test.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	driver, err := exec.LookPath("chromedriver")
	if err != nil {
		t.Skip("needs the Debian packages chromium and chromium-driver")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.Command(driver, fmt.Sprint("--port=", port)) // outlives the test's context, to end its browser
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // its browser has ended before it
		_ = cmd.Wait()
	})
	b := &browser{t: t, url: fmt.Sprintf("http://127.0.0.1:%d", port)}
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) { //nolint:forbidigo // a bounded look
		if _, _, err := askHTTP(t.Context(), b.url+"/status"); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("chromedriver does not answer")
		}
	}
	var session struct{ SessionID string }
	b.call(http.MethodPost, "/session", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{
		"goog:loggingPrefs": map[string]string{"browser": "ALL"},
		"goog:chromeOptions": map[string]any{"args": []string{
			"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
			"--disable-component-update", "--disable-sync", "--user-data-dir=" + t.TempDir(),
		}},
	}}}, &session)
	b.url += "/session/" + session.SessionID
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if r, err := http.NewRequestWithContext(ctx, http.MethodDelete, b.url, nil); err == nil {
			if answer, err := http.DefaultClient.Do(r); err == nil {
				answer.Body.Close()
			}
		}
	})
	return b
}

// call sends a command and decodes the value of the response.
func (b *browser) call(method, path string, body, value any) {
	b.t.Helper()
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			b.t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(b.t.Context(), patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, b.url+path, bytes.NewReader(text))
	if err != nil {
		b.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err = io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		b.t.Fatalf("%s: %d %s %v", path, answer.StatusCode, text, err)
	}
	if value == nil {
		return
	}
	if err := json.Unmarshal(text, &struct{ Value any }{value}); err != nil {
		b.t.Fatalf("%s: %s: %v", path, text, err)
	}
}

func (b *browser) open(url string) {
	b.call(http.MethodPost, "/url", map[string]string{"url": url}, nil)
}

// run runs the body of a function in the page and returns its result as text.
func (b *browser) run(script string) string {
	b.t.Helper()
	var value any
	b.call(http.MethodPost, "/execute/sync", map[string]any{"script": script, "args": []any{}}, &value)
	return fmt.Sprint(value)
}

// fill writes into a field and sends its form.
func (b *browser) fill(form string, fields map[string]string) {
	b.t.Helper()
	var s strings.Builder
	for id, value := range fields {
		fmt.Fprintf(&s, "document.getElementById(%q).value = %q;", id, value)
	}
	b.run(s.String() + fmt.Sprintf("document.getElementById(%q).requestSubmit()", form))
}

// until waits for an expression to become true.
func (b *browser) until(what, expression string) {
	b.t.Helper()
	for deadline := time.Now().Add(patience); b.run("return !!("+expression+")") != "true"; time.Sleep(50 * time.Millisecond) { //nolint:forbidigo // a bounded look
		if time.Now().After(deadline) {
			b.t.Fatalf("not seen: %s (%s)\n%s", what, expression, b.run("return document.body.innerText"))
		}
	}
}

// look emulates a window width and a colour scheme.
func (b *browser) look(width int, scheme string) {
	b.cdp("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 1400, "deviceScaleFactor": 1, "mobile": width < 600})
	b.cdp("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]string{"name": "prefers-color-scheme", "value": scheme}}})
}

// cdp sends a command of Chromium's own protocol.
func (b *browser) cdp(command string, params map[string]any) {
	b.call(http.MethodPost, "/goog/cdp/execute", map[string]any{"cmd": command, "params": params}, nil)
}

// screenshot takes a picture; go test -artifacts keeps it.
func (b *browser) screenshot(name string) {
	var picture string
	b.call(http.MethodGet, "/screenshot", nil, &picture)
	png, err := base64.StdEncoding.DecodeString(picture)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.t.ArtifactDir(), name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// errors returns the errors in the console, without requests that the server
// refused. Chromium also aborts requests when an interface of this machine comes or
// goes, as those of package torture do. The page repeats them.
func (b *browser) errors() (found []string) {
	var lines []struct{ Level, Message string }
	b.call(http.MethodPost, "/se/log", map[string]string{"type": "browser"}, &lines)
	for _, l := range lines {
		if !strings.Contains(l.Message, "responded with a status of 4") && !strings.Contains(l.Message, "ERR_NETWORK_CHANGED") {
			found = append(found, l.Level+" "+l.Message)
		}
	}
	return found
}
