package wiretest

import "runtime"

// MemoryInUse returns the bytes of the heap and the stacks after a collection.
func MemoryInUse() int64 {
	for range 3 { // pools are emptied, stacks are shrunk
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
