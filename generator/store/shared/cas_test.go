package shared

import (
	"context"
	"testing"

	"nextid/generator"
)

// interrupted is a Swapper. After a Swap it calls after before it answers.
type interrupted struct {
	link
	after func()
}

func (i *interrupted) Swap(ctx context.Context, epoch string, in Folder, key string, was Value, text string) (Value, bool, error) {
	now, swapped, err := i.link.Swap(ctx, epoch, in, key, was, text)
	if i.after != nil {
		i.after()
	}
	return now, swapped, err
}

// An answer of the database before arrives after another goroutine has met the next
// one, where the key has another row of the same version.
func TestARowOfTheEpochBeforeIsNotCached(t *testing.T) {
	t.Parallel()
	d := newDatabase()
	swapper := &interrupted{link: link{d}}
	c := NewCAS(swapper, nil)
	advance := func(epoch string, n int64) Answer {
		t.Helper()
		ask := Ask{Reservation: name("orders", n), Epoch: epoch, Write: epoch, From: "one", Create: true, Count: 1}
		answers, err := c.Advance(t.Context(), []Ask{ask})
		if err != nil || answers[0].Outcome != Granted {
			t.Fatal(answers, err)
		}
		return answers[0]
	}
	swapper.after = func() {
		swapper.after = nil
		d.restore(d.values, nil, "two")
		d.values[generator.NameKey("orders")] = Value{EncodeRow(&Row{Key: generator.NameKey("orders"), Lo: 1, Hi: 1001, Seq: 1, Epoch: "two"}), 1}
		if epoch, err := c.Epoch(t.Context()); err != nil || epoch != "two" {
			t.Fatal(epoch, err)
		}
	}
	advance("one", 10)
	if a := advance("two", 10); a.Lo != 1001 {
		t.Errorf("granted [%d, %d): the store had granted up to 1001", a.Lo, a.Hi)
	}
}
