-- UUIDs of version 7 in the database, which appear as version 4 to the public. The
-- functions compute the same as the server's public_uuid and private_uuid, without
-- a query to it.

-- +goose Up

-- The keys of generators with the option public. Only the functions below read
-- them.
CREATE TABLE nextid.public_keys (
    name varchar(128) PRIMARY KEY, -- of the generator
    key  varchar(256) NOT NULL
);

-- cipher_uuid permutes the 122 bits that are neither version nor variant. The 60
-- high bits and the 62 low bits are the halves of a Feistel network of ten rounds.
-- The round function is the first 8 bytes of SHA-256 of the key, the round's number,
-- and the other half in 8 bytes.
-- +goose StatementBegin
CREATE FUNCTION nextid.cipher_uuid(u uuid, name text, public boolean) RETURNS uuid
    LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE SECURITY DEFINER COST 1000
    SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    version CONSTANT integer := CASE WHEN public THEN 7 ELSE 4 END;
    bytes CONSTANT bytea := uuid_send(u);
    high bigint := ('x' || encode(substring(bytes FROM 1 FOR 8), 'hex'))::bit(64)::bigint;
    low bigint := ('x' || encode(substring(bytes FROM 9 FOR 8), 'hex'))::bit(64)::bigint;
    key bytea;
    round integer;
    other bigint;
BEGIN
    IF (high >> 12) & 15 <> version OR (low >> 62) & 3 <> 2 THEN
        RAISE invalid_parameter_value USING MESSAGE = format('%s is not a UUID of version %s', u, version),
            HINT = 'public_uuid takes UUIDs of version 7, private_uuid what public_uuid gave.';
    END IF;
    SELECT sha256(convert_to('nextid public 1', 'UTF8') || '\x00' || convert_to(k.key, 'UTF8')) INTO key
        FROM nextid.public_keys k WHERE k.name = cipher_uuid.name;
    IF key IS NULL THEN
        RAISE object_not_in_prerequisite_state USING MESSAGE = format('generator %I has no key for public UUIDs here', cipher_uuid.name),
            HINT = 'INSERT INTO nextid.public_keys the name and the key that create_generator was given.';
    END IF;
    high := ((high >> 4) & 1152921504606842880) | (high & 4095);
    low := low & 4611686018427387903;
    FOR i IN 0 .. 9 LOOP
        round := CASE WHEN public THEN i ELSE 9 - i END;
        other := CASE round % 2 WHEN 0 THEN low ELSE high END;
        other := ('x' || encode(substring(sha256(key || set_byte('\x00', 0, round) || int8send(other)) FROM 1 FOR 8), 'hex'))::bit(64)::bigint;
        IF round % 2 = 0 THEN
            high := (high # other) & 1152921504606846975;
        ELSE
            low := (low # other) & 4611686018427387903;
        END IF;
    END LOOP;
    high := ((high & 1152921504606842880) << 4) | ((11 - version) << 12) | (high & 4095);
    RETURN encode(int8send(high) || int8send(low | (-9223372036854775808)), 'hex')::uuid;
END $$;
-- +goose StatementEnd

CREATE FUNCTION nextid.public_uuid(u uuid, name text) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT nextid.cipher_uuid($1, $2, true)';

CREATE FUNCTION nextid.private_uuid(u uuid, name text) RETURNS uuid LANGUAGE sql STABLE PARALLEL SAFE
    AS 'SELECT nextid.cipher_uuid($1, $2, false)';

-- +goose Down
DROP FUNCTION nextid.private_uuid(uuid, text), nextid.public_uuid(uuid, text), nextid.cipher_uuid(uuid, text, boolean);

DROP TABLE nextid.public_keys;
