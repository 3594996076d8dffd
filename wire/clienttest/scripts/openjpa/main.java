import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.openjpa.persistence.OpenJPAEntityManager;
import org.apache.openjpa.persistence.OpenJPAPersistence;

class Main {
    /** The ids of 120 entities of a program of its own. */
    static long[] ids() {
        Map<String, String> p = new HashMap<>();
        p.put("openjpa.ConnectionURL", Verdict.url());
        p.put("openjpa.ConnectionDriverName", "org.postgresql.Driver");
        p.put("openjpa.ConnectionUserName", Verdict.user());
        p.put("openjpa.ConnectionPassword", Verdict.password());
        p.put("openjpa.RuntimeUnenhancedClasses", "supported");
        p.put("openjpa.DynamicEnhancementAgent", "false");
        p.put("openjpa.MetaDataFactory", "jpa(Types=Invoice)");
        p.put("openjpa.Log", "none");
        OpenJPAEntityManager m = (OpenJPAEntityManager) OpenJPAPersistence.createEntityManagerFactory(null, null, p).createEntityManager();
        m.getTransaction().begin();
        long[] ids = new long[120];
        for (int i = 0; i < ids.length; i++) {
            Invoice invoice = new Invoice();
            m.persist(invoice);
            ids[i] = Long.parseLong(m.getObjectId(invoice).toString());
        }
        m.getTransaction().rollback();
        return ids;
    }

    public static void main(String[] args) throws Exception {
        try (Connection c = DriverManager.getConnection(Verdict.url(), Verdict.user(), Verdict.password());
                ResultSet r = c.createStatement().executeQuery("SELECT nextval('openjpa_invoices')")) {
            Verdict.check("a sequence that nextval makes", () -> r.next() && r.getLong(1) > 0);
        }
        Verdict.check("pools of two programs", () -> {
            Set<Long> seen = new HashSet<>();
            for (int program = 0; program < 2; program++) {
                int asked = 0;
                long before = 0;
                for (long id : ids()) {
                    if (id != before + 1) {
                        asked++;
                    }
                    before = id;
                    seen.add(id);
                }
                if (asked > 3) {
                    throw new IllegalStateException("asked " + asked + " times for 120 ids");
                }
            }
            return seen.size() == 240;
        });
        Verdict.done();
    }
}
