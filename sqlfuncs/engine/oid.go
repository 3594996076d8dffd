package engine

import (
	"sync"

	"nextid/generator"
)

// RelationOIDs assigns OIDs to generator names for regclass values. An OID is valid
// for the life of the process. Any goroutine may use it.
type RelationOIDs struct {
	mu    sync.Mutex
	byOID map[uint32]string
	oids  map[string]uint32
}

// FirstSequenceOID is the first OID of a generator.
const FirstSequenceOID = 1 << 20

// maxSequenceOIDs limits how many names get an OID.
const maxSequenceOIDs = generator.DefaultMaxNames

// Sequence returns the OID of a generator as a sequence. ok is false if too many
// names have one, or if no generator can have the name.
func (s *RelationOIDs) Sequence(name string) (uint32, bool) {
	if generator.CheckName(name) != nil {
		return 0, false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if oid, ok := s.oids[name]; ok {
		return oid, true
	}
	if len(s.oids) >= maxSequenceOIDs {
		return 0, false
	}
	if s.oids == nil {
		s.oids, s.byOID = map[string]uint32{}, map[uint32]string{}
	}
	oid := uint32(FirstSequenceOID + len(s.oids))
	s.oids[name], s.byOID[oid] = oid, name
	return oid, true
}

// idTableOIDs is the OID of a table NAME_id minus that of its generator.
const idTableOIDs = 1 << 28

// IDTable returns the OID of a generator's table NAME_id, or 0 if there are too
// many.
func (s *RelationOIDs) IDTable(generatorName string) uint32 {
	oid, ok := s.Sequence(generatorName)
	if !ok {
		return 0
	}
	return oid + idTableOIDs
}

// Name returns the name of the sequence or the table NAME_id with the OID.
func (s *RelationOIDs) Name(oid uint32) (string, bool) {
	if oid >= idTableOIDs+FirstSequenceOID {
		name, ok := s.SequenceName(oid - idTableOIDs)
		return name + IDTableSuffix, ok
	}
	return s.SequenceName(oid)
}

// SequenceName returns the name of the sequence with the OID.
func (s *RelationOIDs) SequenceName(oid uint32) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.byOID[oid]
	return name, ok
}
