import django
from django.conf import settings

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(django.__version__)
server = dict(ENGINE="django.db.backends.postgresql", HOST=HOST, PORT=str(PORT), NAME=DB, USER=USER, PASSWORD=PASSWORD)
settings.configure(
    DATABASES={
        "default": dict(server, CONN_MAX_AGE=0),
        "ids": dict(server, CONN_MAX_AGE=60, DISABLE_SERVER_SIDE_CURSORS=True),
    },
    INSTALLED_APPS=[],
    USE_TZ=True,
    TIME_ZONE="UTC",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import connection, connections, models, transaction


def one(sql, args=None, on=connection):
    with on.cursor() as c:
        c.execute(sql, args)
        return c.fetchone()[0]


def two(sql, args=None, on=connection):
    return one(sql, args, on), one(sql, args, on)


check("connect, plain", lambda: two("SELECT next_id('orders')"))
check("bound parameter", lambda: two("SELECT next_id(%s)", ["orders"]))
check("nextval", lambda: two("select nextval(%s)", ["orders"]))


@check("atomic(), nested")
def _():
    with transaction.atomic():
        a = one("SELECT next_id('orders')")
        with transaction.atomic():
            return a, one("SELECT next_id('orders')")


@check("atomic(), rolled back")
def _():
    try:
        with transaction.atomic():
            one("SELECT next_id('orders')")
            raise KeyError
    except KeyError:
        return True


@check("next_ids, 3 rows")
def _():
    with connection.cursor() as c:
        c.execute("SELECT * FROM next_ids(%s,%s)", ["orders", 3])
        return len(c.fetchall()) == 3


@check("callproc")
def _():
    ids = []
    with connection.cursor() as c:
        for _ in range(2):
            c.callproc("next_id", ["orders"])
            ids.append(c.fetchone()[0])
    return tuple(ids)


@check("second alias, is_usable(), CONN_MAX_AGE")
def _():
    ids = two("SELECT next_id('orders')", on=connections["ids"])
    connections["ids"].close_if_unusable_or_obsolete()
    return ids if connections["ids"].is_usable() else False


@check("pg_version")
def _():
    connection.ensure_connection()
    return str(connection.pg_version)


class Ids(models.Model):
    name = models.TextField(primary_key=True)
    id = models.BigIntegerField()

    class Meta:
        app_label = "check"
        managed = False
        db_table = "ids"


check("unmanaged model over the table ids", lambda: tuple(Ids.objects.get(name="orders").id for _ in range(2)))
check(
    "values_list, streamed by a server-side cursor",
    lambda: len(list(Ids.objects.filter(name="orders").values_list("id").iterator())) == 1,
)

if META:
    tables = connection.introspection

    def described(describe):
        with connection.cursor() as c:
            return str(describe(c))

    check("meta table_names", lambda: "ids" in tables.table_names(include_views=True))
    check("meta sequence_list", lambda: str(len(tables.sequence_list())))
    check("meta columns of ids", lambda: described(lambda c: [f.name for f in tables.get_table_description(c, "ids")]))
    check("meta constraints of ids", lambda: described(lambda c: len(tables.get_constraints(c, "ids"))))

connections.close_all()
done()
