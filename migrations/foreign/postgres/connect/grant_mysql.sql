
GRANT USAGE ON SCHEMA nextid TO {{role}};
GRANT EXECUTE ON FUNCTION nextid.next_id(text), nextid.parse_id(bigint) TO {{role}};
