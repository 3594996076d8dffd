package load

import (
	"encoding/binary"
)

// pgProtocol implements version 3 of PostgreSQL's protocol, see "Message Formats" in
// its manual. Results are in text format. ReadyForQuery ends an answer.
type pgProtocol struct{}

func (pgProtocol) query(dst []byte, sql string) []byte {
	dst = append(dst, 'Q')
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+len(sql)+1))
	return append(append(dst, sql...), 0)
}

const pgSync = "S\x00\x00\x00\x04"

// prepare appends Parse of statement s1, and Sync.
func (pgProtocol) prepare(dst []byte, sql string) ([]byte, int) {
	dst = append(dst, 'P')
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+3+len(sql)+1+2))
	dst = append(append(dst, "s1\x00"...), sql...)
	return append(append(dst, 0, 0, 0), pgSync...), 1
}

// execute appends the messages that drivers and pgbench send: Bind of s1 without
// parameters and with text results, Describe and Execute of the portal, and Sync.
func (pgProtocol) execute(dst []byte) []byte {
	return append(dst, "B\x00\x00\x00\x10\x00s1\x00\x00\x00\x00\x00\x00\x01\x00\x00"+
		"D\x00\x00\x00\x06P\x00"+"E\x00\x00\x00\x09\x00\x00\x00\x00\x00"+pgSync...)
}

// AppendExecution appends the messages of execute for a statement with one parameter
// of text format.
func AppendExecution(dst []byte, value string) []byte {
	dst = append(dst, 'B')
	dst = binary.BigEndian.AppendUint32(dst, uint32(4+1+3+2+2+4+len(value)+2))
	dst = append(dst, "\x00s1\x00\x00\x00\x00\x01"...)
	dst = append(binary.BigEndian.AppendUint32(dst, uint32(len(value))), value...)
	return append(dst, "\x00\x00"+"D\x00\x00\x00\x06P\x00"+"E\x00\x00\x00\x09\x00\x00\x00\x00\x00"+pgSync...)
}

// scan implements protocol. An ErrorResponse ends it with an error.
func (pgProtocol) scan(in []byte, values *[]ID) (used, answers int, err error) {
	for len(in)-used >= 5 {
		m := in[used:]
		size := 1 + int(binary.BigEndian.Uint32(m[1:]))
		if size > len(m) {
			break
		}
		switch m[0] {
		case 'Z':
			answers++
		case 'D':
			if values != nil && size > 11 {
				if n := int(int32(binary.BigEndian.Uint32(m[7:]))); n > 0 && 11+n <= size {
					if id, ok := parseID(m[11 : 11+n]); ok {
						*values = append(*values, id)
					}
				}
			}
		case 'E':
			return used, answers, pgError(m[5:size])
		}
		used += size
	}
	return used, answers, nil
}

// pgError returns the message and the SQLSTATE of an ErrorResponse.
func pgError(fields []byte) error {
	var code, message string
	for len(fields) > 1 {
		end := 1
		for end < len(fields) && fields[end] != 0 {
			end++
		}
		switch fields[0] {
		case 'C':
			code = string(fields[1:end])
		case 'M':
			message = string(fields[1:end])
		}
		fields = fields[min(end+1, len(fields)):]
	}
	return serverError(message + " (" + code + ")")
}
