package wire

import (
	"reflect"
	"testing"
	"time"
)

// The defaults are a promise to operators: docs/config.md has them.
func TestDefaultLimits(t *testing.T) {
	want := Limits{
		Connections: 5000, ReservedForSocket: 5, PerIP: 500, PreAuth: 256,
		FirstByte: 5 * time.Second, Login: 10 * time.Second, Message: 60 * time.Second,
		Write: 30 * time.Second, Idle: 0,
		Startup: 10_000, StartupParams: 32, Auth: 1024, Statement: 1 << 20, Small: 10_000,
		Parameters: 256, ResultFormats: 256, FlushAt: 64 << 10, LogText: 200, LogName: 64,
	}
	if got := (Limits{}).WithDefaults(); got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

// A new limit that WithDefaults forgets would be no limit at all.
func TestEveryLimitHasADefaultAndKeepsWhatIsSet(t *testing.T) {
	var ones Limits
	v := reflect.ValueOf(&ones).Elem()
	filled := reflect.ValueOf(Limits{}.WithDefaults())
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if filled.Field(i).IsZero() && name != "Idle" {
			t.Errorf("%s has no default", name)
		}
		v.Field(i).SetInt(1)
	}
	if got := ones.WithDefaults(); got != ones {
		t.Errorf("values that were set became %+v", got)
	}
}
