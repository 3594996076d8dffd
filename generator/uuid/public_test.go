package uuid

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"nextid/generator"
)

// The key is made once, stored, and never shown.
func TestKeyOfPublicUUIDs(t *testing.T) {
	t.Parallel()
	const own = "correct horse battery staple"
	for _, k := range []generator.Kind{Kinds(generator.SystemClock{})[0], Kinds(generator.SystemClock{})[6]} {
		normal, err := k.Normalize(json.RawMessage(`{"public":true}`))
		if err != nil || !strings.Contains(string(normal), `"public":true`) {
			t.Fatalf("%s: %s, %v", k.Name(), normal, err)
		}
		completer, _ := generator.KindAs[generator.Completer](k)
		stored, err := completer.Complete(t.Context(), generator.Definition{Options: normal})
		if err != nil || strings.Contains(string(stored), "true") {
			t.Fatalf("%s: stored as %s, %v", k.Name(), stored, err)
		}
		publisher, _ := generator.KindAs[generator.Publisher](k)
		if shown := publisher.Public(stored); string(shown) != string(normal) {
			t.Errorf("%s: shown as %s, want %s", k.Name(), shown, normal)
		}
		if same, err := k.Alter(stored, json.RawMessage(`{"public":true}`)); err != nil || string(same) != string(stored) {
			t.Errorf("%s: public => true makes %s of %s, %v", k.Name(), same, stored, err)
		}
		for _, change := range []string{`{"public":false}`, `{"public":"another key of this test"}`} {
			if _, err := k.Alter(stored, json.RawMessage(change)); !errors.Is(err, generator.ErrOption) {
				t.Errorf("%s: %s: %v", k.Name(), change, err)
			}
		}
		none, err := k.Normalize(nil)
		if err != nil || strings.Contains(string(none), "public") {
			t.Fatalf("%s: %s, %v", k.Name(), none, err)
		}
		later, err := k.Alter(none, json.RawMessage(`{"public":"`+own+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		gen, err := k.Open(t.Context(), generator.Definition{Name: "u", Options: later})
		if err != nil {
			t.Fatal(err)
		}
		if c, ok := CipherFor(gen); !ok || c != NewCipher(own) {
			t.Errorf("%s: has the key: %v", k.Name(), ok)
		}
		if _, err := k.Normalize(json.RawMessage(`{"public":"a short key"}`)); !errors.Is(err, generator.ErrOption) || strings.Contains(err.Error(), "a short key") {
			t.Errorf("%s: a short key: %v", k.Name(), err)
		}
	}
	if _, err := Kinds(generator.SystemClock{})[0].Normalize(json.RawMessage(`{"version":4,"public":true}`)); !errors.Is(err, generator.ErrOption) {
		t.Errorf("public UUIDs of version 4: %v", err)
	}
}
