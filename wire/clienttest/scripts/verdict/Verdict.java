import java.util.Arrays;

/** The verdicts of a Java client: one line a check, for the test to read. */
final class Verdict {
    private static final String CLIENT = System.getenv("CLIENT");
    private static boolean failed;

    private Verdict() {}

    /** A check returns two rising ids (long[]), a text, or false for a failure. */
    interface Check {
        Object run() throws Exception;
    }

    static final boolean MYSQL = "mysql".equals(System.getenv("PROTOCOL"));
    static final boolean META = Arrays.asList(System.getenv("CHECKS").split(",")).contains("meta");

    static String url() {
        return url("postgresql");
    }

    static String url(String driver) {
        return "jdbc:" + driver + "://" + System.getenv("HOST") + ":" + System.getenv("PORT") + "/" + System.getenv("DB");
    }

    static String user() {
        return System.getenv("USER");
    }

    static String password() {
        return System.getenv("PASSWORD");
    }

    static void check(String what, Check f) {
        try {
            Object got = f.run();
            if (got instanceof long[]) {
                long[] ids = (long[]) got;
                if (ids[0] <= 0 || ids[1] <= ids[0]) {
                    fail(what, "not two rising ids: " + Arrays.toString(ids));
                    return;
                }
            } else if (Boolean.FALSE.equals(got)) {
                fail(what, "false");
                return;
            }
            System.out.println("ok " + CLIENT + " " + what + (got instanceof String ? ": " + got : ""));
        } catch (Throwable e) {
            fail(what, String.valueOf(e));
        }
    }

    static void fail(String what, String why) {
        failed = true;
        System.out.println("FAIL " + CLIENT + " " + what + ": " + why.replaceAll("\\s+", " "));
    }

    static void done() {
        System.exit(failed ? 1 : 0);
    }
}
