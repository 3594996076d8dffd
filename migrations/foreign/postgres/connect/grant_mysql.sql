
GRANT USAGE ON SCHEMA nextid TO {{role}};
GRANT EXECUTE ON FUNCTION nextid.next_id(text), nextid.next_id_for(text, bigint), nextid.parse_id(bigint, text) TO {{role}};
