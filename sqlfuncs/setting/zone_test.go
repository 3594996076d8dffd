package setting

import "testing"

// TestZonesGivenByAnOffset has the offsets that PostgreSQL 15 uses after
// SET timezone = '…'.
func TestZonesGivenByAnOffset(t *testing.T) {
	for value, east := range map[string]int{
		"2": 7200, "-7.5": -27000, "+02:00": -7200, "GMT-02:00": 7200, "GMT+5": -18000,
		"<+02>-02": 7200, "<-05:30>+05:30": -19800, "UTC0": 0,
	} {
		if got, ok := parseOffset(value); !ok || got != east {
			t.Errorf("%s: %d %v, want %d", value, got, ok, east)
		}
	}
	for _, value := range []string{"", "Europe/Paris", "200", "GMT+05:99", "<", "+", "1e9"} {
		if got, ok := parseOffset(value); ok {
			t.Errorf("%q was taken for the offset %d", value, got)
		}
	}
}
