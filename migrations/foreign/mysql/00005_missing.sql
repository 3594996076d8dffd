-- Errors instead of NULL. The server answers a read of ids with no row if it has no
-- generator of the name. If the functions returned NULL for that, or for an argument
-- that is NULL, an AUTO_INCREMENT column would take a number of MariaDB's own.
--
-- FederatedX replaces every error of the server by 137. Without a connection its
-- error has a number of the client library, 2003 or so. To an application's own
-- library such a packet is malformed: it closes the connection. So the functions
-- replace the number, too.
--
-- @@hostname makes the functions unsafe to replicate as statements, because a replica
-- would draw ids of its own: binlog_format=MIXED then logs the rows.
--
-- Names of tables and triggers differ by case and accents, too: hence the collation of
-- nextid.fills.

-- +goose Up
ALTER TABLE nextid.fills CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;

-- OR REPLACE keeps the grants. MySQL does not know it: there the functions are
-- dropped first, and up has to grant again.
DROP FUNCTION IF EXISTS nextid. /*M! not_in_mariadb */ /*!50701 next_id */;
-- +goose StatementBegin
CREATE /*M! OR REPLACE */ FUNCTION nextid.next_id(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin) RETURNS BIGINT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'a new id of a generator of nextid'
BEGIN
    DECLARE problem VARCHAR(400) DEFAULT CONCAT('nextid has no generator named ', COALESCE(QUOTE(generator), 'NULL'));
    DECLARE drawn BIGINT;
    DECLARE EXIT HANDLER FOR 137 BEGIN
        SET problem = CONCAT('nextid refused, and FederatedX does not say why: ask nextid itself, SELECT next_id(', QUOTE(generator), ')');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
    END;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
        DECLARE number INT;
        GET DIAGNOSTICS CONDITION 1 number = MYSQL_ERRNO, problem = MESSAGE_TEXT;
        IF number BETWEEN 2000 AND 2999 THEN
            SET problem = CONCAT('nextid does not answer the database on ', @@hostname, ': ', problem);
            SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1429, MESSAGE_TEXT = problem;
        END IF;
        RESIGNAL;
    END;
    SET drawn = (SELECT ids.id FROM nextid.ids WHERE ids.name = generator);
    IF drawn IS NULL THEN
        SIGNAL SQLSTATE '42S02' SET MYSQL_ERRNO = 1146, MESSAGE_TEXT = problem;
    END IF;
    RETURN drawn;
END;
-- +goose StatementEnd

DROP FUNCTION IF EXISTS nextid. /*M! not_in_mariadb */ /*!50701 next_id_for */;
-- +goose StatementBegin
CREATE /*M! OR REPLACE */ FUNCTION nextid.next_id_for(generator VARCHAR(128) CHARACTER SET ascii COLLATE ascii_bin, value BIGINT) RETURNS BIGINT
    NOT DETERMINISTIC READS SQL DATA SQL SECURITY DEFINER COMMENT 'a new id of a generator of nextid with the caller''s bits'
BEGIN
    DECLARE problem VARCHAR(400);
    DECLARE EXIT HANDLER FOR 137 BEGIN
        SET problem = CONCAT('nextid refused, and FederatedX does not say why: ask nextid itself, SELECT next_id_for(', QUOTE(generator), ', ', value, ')');
        SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = problem;
    END;
    DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
        DECLARE number INT;
        GET DIAGNOSTICS CONDITION 1 number = MYSQL_ERRNO, problem = MESSAGE_TEXT;
        IF number BETWEEN 2000 AND 2999 THEN
            SET problem = CONCAT('nextid does not answer the database on ', @@hostname, ': ', problem);
            SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1429, MESSAGE_TEXT = problem;
        END IF;
        RESIGNAL;
    END;
    IF generator IS NULL OR value IS NULL THEN
        SIGNAL SQLSTATE '22004' SET MYSQL_ERRNO = 1048, MESSAGE_TEXT = 'neither the name of the generator nor the field may be NULL';
    END IF;
    RETURN (SELECT id_fields.id FROM nextid.id_fields WHERE id_fields.name = generator AND id_fields.field = value);
END;
-- +goose StatementEnd

-- +goose Down
-- 00001_functions.sql and 00003_fields.sql drop the functions.
