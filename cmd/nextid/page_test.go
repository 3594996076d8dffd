package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"nextid/dbtest"
)

// TestPage uses the page as a person does: logs in, draws, takes an id apart and
// makes a generator, with the widths and colours of phones and desktops.
func TestPage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	data := t.TempDir()
	addUser(t, "secret", "root", "--data", data, "--admin")
	addUser(t, "token", "clerk", "--data", data)
	s := startServer(t, nil, "--data", data, "--http", "127.0.0.1:0")
	page := "http://" + s.http + "/"

	b.look(1280, "light")
	b.open(page)
	b.until("the login", "!document.getElementById('login').hidden")
	b.fill("login-form", map[string]string{"login-user": "root", "login-password": "guess"})
	b.until("a refused login", "document.getElementById('login-error').textContent.includes('password')")
	b.fill("login-form", map[string]string{"login-user": "root", "login-password": "secret"})
	b.until("who is logged in", "document.getElementById('who').textContent.includes('root (admin)')")
	b.until("the id space", "document.getElementById('state').textContent.includes('sqlite:')")

	b.fill("draw-form", map[string]string{"draw-name": "orders"})
	b.until("a drawn id", `/^\d{18,19}/.test(document.getElementById('draw-result').textContent)`)
	b.until("the generator", "document.getElementById('generators').textContent.includes('orders')")
	b.run("window.drawing = setInterval(() => document.getElementById('draw-form').requestSubmit(), 100)")
	b.until("a rate that moves", "parseFloat(document.getElementById('rate-now').textContent) > 1")
	b.run("clearInterval(window.drawing)")

	b.fill("inspect-form", map[string]string{"inspect-id": "1541815603606036480"})
	b.until("a tweet's time", "document.getElementById('inspect-result').textContent.includes('2022-06-28 16:07:40')")
	b.until("its bits", "document.querySelectorAll('.bits div').length >= 4")
	widths := b.run(`const w = [...document.querySelector('.bits').children].map(d => d.getBoundingClientRect().width);
		return Math.round(10 * w[0] / w[3])`)
	if widths != "34" { // 41 bits of time beside 12 of sequence
		t.Errorf("the fields are not to scale: %s tenths", widths)
	}
	b.fill("inspect-form", map[string]string{"inspect-id": "not an id"})
	b.until("an error with words", "document.querySelector('#inspect-result .error')")
	b.fill("inspect-form", map[string]string{"inspect-id": "01890a5d-ac96-774b-bcce-b302099a8057"})
	b.until("a UUID's fields", "document.getElementById('inspect-result').textContent.includes('uuidv7')")

	b.run("document.getElementById('create-open').click()")
	b.fill("create-form", map[string]string{"create-name": "invoices", "create-kind": "segment", "create-options": `{"start": 1000, "max": 1000}`})
	b.until("the new generator", "document.getElementById('generators').textContent.includes('invoices')")
	b.fill("draw-form", map[string]string{"draw-name": "invoices"})
	b.until("its first number", "document.getElementById('draw-result').textContent.startsWith('1000')")
	b.fill("draw-form", map[string]string{"draw-name": "invoices"})
	b.until("why there is no second", "document.getElementById('errors').textContent.includes('invoices')")

	for _, width := range []int{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.look(width, scheme)
			if got := b.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth"); got != "0" {
				t.Errorf("at %d px the page is %s px too wide", width, got)
			}
			b.screenshot(fmt.Sprintf("page-%d-%s", width, scheme))
		}
	}
	if unnamed := b.run(`return [...document.querySelectorAll('input, textarea, button')].filter(e =>
		!e.labels?.length && !e.textContent && !e.getAttribute('aria-label')).map(e => e.id).join()`); unnamed != "" {
		t.Errorf("a screen reader has no name for %s", unnamed)
	}
	if elsewhere := b.run(`return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin)).join()`); elsewhere != "" {
		t.Errorf("the page loads %s", elsewhere)
	}
	b.run("document.querySelector('#who button').click()")
	b.until("the login again", "!document.getElementById('login').hidden")
	b.fill("login-form", map[string]string{"login-user": "clerk", "login-password": "token"})
	b.until("who is logged in", "document.getElementById('who').textContent.startsWith('clerk Log out')")
	if b.run("return document.getElementById('create-open').hidden") != "true" {
		t.Error("one who is no admin is offered changes")
	}
	if found := b.errors(); len(found) > 0 {
		t.Errorf("the console shows\n%s", strings.Join(found, "\n"))
	}

	r, err := http.NewRequestWithContext(t.Context(), http.MethodDelete, page+"api/v1/generators/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.SetBasicAuth("clerk", "token")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden {
		t.Errorf("one who is no admin drops a generator: %d", answer.StatusCode)
	}
}

// TestPageInAnOutage loads the page for the first time while the store of 300
// generators does not answer.
func TestPageInAnOutage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	place := dbtest.Redis(t)
	if r := runProgram(t, nil, "migrate", "store", "up", "--dsn", place.URL); r.code != exitOK {
		t.Fatal(r.stderr)
	}
	proxy := dbtest.Cut(t, place.Addr)
	s := startServer(t, nil, "--http", "127.0.0.1:0", "--store", "redis://"+proxy.Addr, "--worker-slice", "1h")
	conn := s.connect()
	statements := []string{"SELECT create_generator('ring', 'ring')", "SELECT next_id('ring')", "SELECT create_generator('count', 'counter')", "SELECT next_id('count')"}
	for i := range 300 {
		statements = append(statements, fmt.Sprintf("SELECT next_id('name%d')", i))
	}
	for _, statement := range statements {
		if _, err := conn.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	proxy.Set(dbtest.HoldAnswers)
	for deadline := time.Now().Add(patience); ; pause(t, 50*time.Millisecond) {
		if _, body := s.ask("/api/v1/status"); strings.Contains(body, `"outage":{"since"`) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the API does not tell of the outage")
		}
	}
	code, body := s.ask("/api/v1/generators/name7")
	if code != http.StatusOK || !strings.Contains(body, `"name":"name7"`) {
		t.Errorf("a generator that is open here: %d %s", code, body)
	}
	if code, body = s.ask("/api/v1/generators/nonesuch"); code != http.StatusServiceUnavailable {
		t.Errorf("a generator that is not open here: %d %s", code, body)
	}
	if _, body = s.ask("/api/v1/workers"); !strings.Contains(body, `{"store_down_since":"20`) || !strings.Contains(body, `"worker":`) {
		t.Error(body)
	}

	page := "http://" + s.http + "/"
	b.look(1280, "light")
	b.open(page)
	b.until("since when", `/has not answered since 20.*count issues none/.test(document.getElementById('outage').textContent)`)
	b.until("the first rows", "document.querySelectorAll('#generators tbody tr').length === 50")
	b.until("this server", "document.getElementById('nodes').textContent.includes('(this one)')")
	b.until("its worker id", "document.querySelectorAll('#workers tbody tr').length > 0")
	b.until("its sessions", "document.getElementById('sessions').textContent.includes('postgresql')")
	for _, width := range []int{400, 1280} {
		for _, scheme := range []string{"light", "dark"} {
			b.look(width, scheme)
			if got := b.run(`return [document.documentElement, ...document.querySelectorAll('.scroll')].map(e => e.scrollWidth - e.clientWidth).filter(n => n > 0).join()`); got != "" {
				t.Errorf("at %d px the page or a table is %s px too wide", width, got)
			}
			b.screenshot(fmt.Sprintf("outage-%d-%s", width, scheme))
		}
	}
	b.run("const find = document.getElementById('find'); find.value = 'NAME77'; find.dispatchEvent(new Event('input'))")
	b.until("the name that was sought", "document.querySelectorAll('#generators tbody tr').length === 1")
	b.run("document.querySelector('#generators .name').click()")
	b.until("its own view", "document.getElementById('view').open && document.getElementById('view-body').textContent.includes('snowflake')")
	b.screenshot("generator")
	b.run("document.getElementById('view-close').click()")
	proxy.Set(dbtest.Open)
	b.until("the end of the outage", "document.getElementById('outage').hidden")
	if found := b.errors(); len(found) > 0 {
		t.Errorf("the console shows\n%s", strings.Join(found, "\n"))
	}
}
