
GRANT USAGE ON SCHEMA nextid TO {{role}};
GRANT EXECUTE ON FUNCTION nextid.next_id(text), nextid.next_id(text, integer), nextid.next_id_for(text, bigint), nextid.next_run(text, bigint, bigint),
    nextid.next_ids(text, integer), nextid.parse_id(bigint, text), nextid.dblink_next_id(text),
    nextid.public_uuid(uuid, text), nextid.private_uuid(uuid, text), nextid.cipher_uuid(uuid, text, boolean) TO {{role}};
GRANT USAGE ON SEQUENCE nextid.place_1, nextid.place_2, nextid.place_3, nextid.place_4,
    nextid.place_5, nextid.place_6, nextid.place_7, nextid.place_8 TO {{role}};
