package dbtest

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"nextid/generator"
	"nextid/generator/store/shared"
)

// Renewal checks that the periodic requests of an idle server do not cost more in a
// store with many names. These requests renew the time slice and read the marks of
// changes and of servers. With lists, a worker id's claim is included, which lists
// all worker ids. The cost is the number of bytes in answers of the server at addr.
// NEXTID_TEST_NAMES sets the number of names; the default is 2000.
func (o Opener) Renewal(t *testing.T, url, addr string, lists bool) {
	t.Helper()
	names := 2000
	if text := os.Getenv("NEXTID_TEST_NAMES"); text != "" {
		var err error
		if names, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
	}
	proxy := Cut(t, addr)
	s := o.Start(t, strings.Replace(url, addr, proxy.Addr, 1), shared.Config{})
	worker := generator.WorkerKeyPrefix + "10/7"
	renew := func() (int64, time.Duration) {
		const times = 10
		began, before := time.Now(), proxy.Passed()
		for range times {
			at := time.Now().UnixMilli()
			if _, _, err := s.Reserve(t.Context(), generator.Reservation{Key: worker, AtLeast: at, N: 10, Limit: generator.NoLimit}); err != nil {
				t.Fatal(err)
			}
			for _, key := range []string{"changes", generator.NodeKeyPrefix + "0", worker} {
				if _, _, err := s.Mark(t.Context(), key); err != nil {
					t.Fatal(err)
				}
			}
			if !lists {
				continue
			}
			if marks, err := s.Reserved(t.Context(), generator.WorkerKeyPrefix); err != nil || len(marks) != 1 {
				t.Fatalf("%v %v", marks, err)
			}
		}
		return (proxy.Passed() - before) / times, time.Since(began) / times
	}
	renew() // connects
	few, quick := renew()
	var work sync.WaitGroup
	for lane := range 64 {
		work.Go(func() {
			for i := lane; i < names; i += 64 {
				r := Order(1)
				r.Key = generator.NameKey(fmt.Sprint("name_with_some_length_", i))
				if _, _, err := s.Reserve(t.Context(), r); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	work.Wait()
	many, slow := renew()
	t.Logf("a renewal: %d bytes in %v with no names, %d bytes in %v with %d", few, quick, many, slow, names)
	if many > few+few/4+256 {
		t.Errorf("a renewal brings %d bytes with %d names, and %d without", many, names, few)
	}
}
