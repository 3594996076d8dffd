import django
from django.conf import settings

from verdict import DB, HOST, META, PASSWORD, PORT, USER, check, done, version

version(django.__version__)
settings.configure(
    DATABASES={
        "default": dict(
            ENGINE="django.db.backends.mysql", HOST=HOST, PORT=str(PORT), NAME=DB, USER=USER, PASSWORD=PASSWORD, CONN_MAX_AGE=60
        )
    },
    INSTALLED_APPS=[],
    USE_TZ=True,
    TIME_ZONE="UTC",
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import connection, models, transaction


def one(sql, args=None):
    with connection.cursor() as c:
        c.execute(sql, args)
        return c.fetchone()[0]


def two(sql, args=None):
    return one(sql, args), one(sql, args)


check("connect, plain", lambda: two("SELECT next_id('orders')"))
check("bound parameter", lambda: two("SELECT next_id(%s)", ["orders"]))


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


check("is_usable, version", lambda: connection.is_usable() and str(connection.mysql_version))


class Ids(models.Model):
    name = models.TextField(primary_key=True)
    id = models.BigIntegerField()

    class Meta:
        app_label = "check"
        managed = False
        db_table = "ids"


check("unmanaged model over the table ids", lambda: tuple(Ids.objects.get(name="orders").id for _ in range(2)))
check("values_list, iterator", lambda: len(list(Ids.objects.filter(name="orders").values_list("id").iterator())) == 1)

if META:
    tables = connection.introspection

    def described(describe):
        with connection.cursor() as c:
            return describe(c)

    check("meta table_names", lambda: "ids" in tables.table_names(include_views=True))
    check("meta columns of ids", lambda: [f.name for f in described(lambda c: tables.get_table_description(c, "ids"))] == ["name", "id"])
    check("meta constraints of ids", lambda: described(lambda c: tables.get_constraints(c, "ids")) == {})
    check("meta sequences, storage engine", lambda: str(described(lambda c: tables.get_storage_engine(c, "ids"))))

connection.close()
done()
