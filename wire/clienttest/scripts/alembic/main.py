import alembic
import sqlalchemy
from alembic.autogenerate import compare_metadata
from alembic.operations import Operations
from alembic.runtime.migration import MigrationContext
from sqlalchemy import Column, BigInteger, MetaData, Sequence, create_engine, text
from sqlalchemy.engine import URL
from sqlalchemy.schema import CreateSequence, DropSequence

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(alembic.__version__)
engine = create_engine(URL.create("postgresql+psycopg2", USER, PASSWORD, HOST, PORT, DB))
pool = Sequence("alembic_pool", start=51, increment=50)


@check("migrations make and drop sequences")
def _():
    with engine.begin() as c:
        op = Operations(MigrationContext.configure(c))
        op.execute(DropSequence(pool)) if c.dialect.has_sequence(c, "alembic_pool") else None
        op.execute(CreateSequence(pool))
        ids = [c.execute(text("SELECT nextval('alembic_pool')")).scalar() for _ in range(2)]
        op.execute(DropSequence(pool))
        return ids[1] == ids[0] + 50


@check("the version table belongs into the application's database")
def _():
    with engine.connect() as c:
        try:
            MigrationContext.configure(c)._ensure_version_table()
        except sqlalchemy.exc.DBAPIError as e:
            return e.orig.pgcode == "0A000" and "CREATE TABLE" in str(e.orig)


if META:

    @check("meta autogenerate: nothing to do")
    def _():
        with engine.connect() as c:
            return compare_metadata(MigrationContext.configure(c), MetaData()) == []


done()
