package engine

import (
	"sync"

	"nextid/generator"
)

// RelationOIDs gives generator names the OIDs that regclass values need.
// They hold for the life of the process.
type RelationOIDs struct {
	mu    sync.Mutex
	byOID map[uint32]string
	oids  map[string]uint32
}

// FirstSequenceOID marks where the OIDs of generators begin.
const FirstSequenceOID = 1 << 20

// maxSequenceOIDs bounds the names that get an OID.
const maxSequenceOIDs = generator.DefaultMaxNames

// Sequence is the OID of a generator as a sequence; ok is false where there are
// too many, or none of the name can be.
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

// idTableOIDs holds what the OID of NAME_id is above that of NAME.
const idTableOIDs = 1 << 28

// IDTable is the OID of the table NAME_id of a generator; 0 where there are too
// many.
func (s *RelationOIDs) IDTable(generatorName string) uint32 {
	oid, ok := s.Sequence(generatorName)
	if !ok {
		return 0
	}
	return oid + idTableOIDs
}

// Name is the name behind the OID of a sequence or a table NAME_id.
func (s *RelationOIDs) Name(oid uint32) (string, bool) {
	if oid >= idTableOIDs+FirstSequenceOID {
		name, ok := s.SequenceName(oid - idTableOIDs)
		return name + IDTableSuffix, ok
	}
	return s.SequenceName(oid)
}

// SequenceName is the name behind the OID of a sequence.
func (s *RelationOIDs) SequenceName(oid uint32) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.byOID[oid]
	return name, ok
}
