import java.math.BigInteger;
import java.util.HashSet;
import java.util.Set;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.Transaction;
import org.hibernate.cfg.Configuration;

class Main {
    static long id(Session s, String sql) {
        return ((BigInteger) s.createSQLQuery(sql).uniqueResult()).longValue();
    }

    public static void main(String[] args) {
        Configuration configuration = new Configuration()
                .addAnnotatedClass(Ids.class)
                .addAnnotatedClass(Order.class)
                .addAnnotatedClass(Pooled.class)
                .setProperty("hibernate.connection.url", Verdict.url())
                .setProperty("hibernate.connection.username", Verdict.user())
                .setProperty("hibernate.connection.password", Verdict.password())
                .setProperty("hibernate.id.new_generator_mappings", "true")
                .setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect");
        SessionFactory factory = configuration.buildSessionFactory();
        Session s = factory.openSession();
        Verdict.check("native query", () -> new long[] {id(s, "SELECT next_id('orders')"), id(s, "SELECT next_id('orders')")});
        Verdict.check("native query with a parameter", () ->
                ((BigInteger) s.createSQLQuery("SELECT next_id(:name)").setString("name", "orders").uniqueResult()).signum() > 0);
        Verdict.check("sequence generator", () -> {
            long[] ids = new long[2];
            for (int i = 0; i < ids.length; i++) {
                Order order = new Order();
                s.persist(order);
                ids[i] = order.id;
                s.evict(order);
            }
            return ids;
        });
        Verdict.check("pools of two programs, from a sequence that did not exist", () -> {
            SessionFactory other = configuration.buildSessionFactory();
            Session two = other.openSession();
            Set<Long> ids = new HashSet<>();
            for (int i = 0; i < 120; i++) {
                for (Session each : new Session[] {s, two}) {
                    Pooled pooled = new Pooled();
                    each.persist(pooled);
                    each.evict(pooled);
                    ids.add(pooled.id);
                }
            }
            two.close();
            other.close();
            return ids.size() == 240;
        });
        Verdict.check("entity over the table ids", () -> {
            long[] ids = new long[2];
            for (int i = 0; i < ids.length; i++) {
                ids[i] = ((Ids) s.get(Ids.class, "orders")).id;
                s.clear();
            }
            return ids;
        });
        Verdict.check("HQL", () -> s.createQuery("select i.id from Ids i where i.name = :name").setString("name", "orders").list().size() == 1);
        Verdict.check("transaction", () -> {
            Transaction t = s.beginTransaction();
            long[] ids = {id(s, "SELECT next_id('orders')"), id(s, "SELECT next_id('orders')")};
            t.commit();
            return ids;
        });
        s.close();
        factory.close();
        Verdict.done();
    }
}
