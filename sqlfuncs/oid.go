package sqlfuncs

import (
	"sync"

	"nextid/generator"
	"nextid/sqlfuncs/engine"
)

// sequenceOIDs gives generator names the OIDs that regclass values need.
// They hold for the life of the process.
type sequenceOIDs struct {
	mu    sync.Mutex
	byOID map[uint32]string
	oids  map[string]uint32
}

// firstSequenceOID is where the OIDs of generators begin.
const firstSequenceOID = 1 << 20

// maxSequenceOIDs bounds the names that get an OID.
const maxSequenceOIDs = generator.DefaultMaxNames

func (s *sequenceOIDs) oid(name string) (uint32, bool) {
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
	oid := uint32(firstSequenceOID + len(s.oids))
	s.oids[name], s.byOID[oid] = oid, name
	return oid, true
}

// idTableOIDs is what the OID of NAME_id is above that of NAME.
const idTableOIDs = 1 << 28

// idTableOID is the OID of the table NAME_id; 0 where there are too many.
func (s *Server) idTableOID(generatorName string) uint32 {
	oid, ok := s.sequenceOIDs.oid(generatorName)
	if !ok {
		return 0
	}
	return oid + idTableOIDs
}

// relationName is the name behind the OID of a sequence or a table NAME_id.
func (s *Server) relationName(oid uint32) (string, bool) {
	if oid >= idTableOIDs+firstSequenceOID {
		name, ok := s.sequenceOIDs.name(oid - idTableOIDs)
		return name + engine.IDTableSuffix, ok
	}
	return s.sequenceOIDs.name(oid)
}

func (s *sequenceOIDs) name(oid uint32) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name, ok := s.byOID[oid]
	return name, ok
}
