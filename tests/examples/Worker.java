// Processes the messages of an inbox. Any number of workers may run side by side: java -cp postgresql.jar Worker.java URL INBOX

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

public class Worker {
    static final int BATCH = 20; // the most messages of a transaction
    static final int PAUSE = 50; // milliseconds between claims that find nothing

    record Message(String id, String payload) {}

    interface Handler {
        void handle(Connection db, Message message) throws Exception;
    }

    static volatile boolean stopped = false;

    /** Works until the process is asked to stop, and then finishes the batch at hand. Connects again where the connection is lost. */
    static void run(String url, String inbox, Handler handler) throws InterruptedException {
        while (!stopped) {
            try (Connection db = DriverManager.getConnection(url)) {
                db.setAutoCommit(false);
                while (!stopped) {
                    if (batch(db, inbox, handler) == 0) {
                        Thread.sleep(PAUSE);
                    }
                }
            } catch (SQLException failure) { // nothing of the batch was done: the messages are claimed again
                System.err.println("a batch was rolled back: " + failure.getMessage());
                Thread.sleep(1000);
            }
        }
    }

    /** Claims, works and marks in one transaction. Returns the number of messages claimed. */
    static int batch(Connection db, String inbox, Handler handler) throws SQLException {
        List<Message> messages = new ArrayList<>();
        try (PreparedStatement claim = db.prepareStatement("select event_id, payload::text from pgtrickle.inbox_claim(?, ?)")) {
            claim.setString(1, inbox);
            claim.setInt(2, BATCH);
            try (var rows = claim.executeQuery()) {
                while (rows.next()) {
                    messages.add(new Message(rows.getString(1), rows.getString(2)));
                }
            }
        }
        for (Message m : messages) {
            Savepoint savepoint = db.setSavepoint(); // takes back the work of a message that fails, and keeps its claim
            try {
                handler.handle(db, m);
                db.releaseSavepoint(savepoint);
                call(db, "select pgtrickle.inbox_mark_processed(?, ?)", inbox, m.id());
            } catch (Exception failure) {
                db.rollback(savepoint);
                call(db, "select pgtrickle.inbox_mark_failed(?, ?, ?)", inbox, m.id(), String.valueOf(failure.getMessage()));
            }
        }
        db.commit();
        return messages.size();
    }

    static void call(Connection db, String sql, String... arguments) throws SQLException {
        try (PreparedStatement statement = db.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setString(i + 1, arguments[i]);
            }
            statement.execute();
        }
    }

    static final Pattern ORDER = Pattern.compile("\"order_id\": \"([^\"]*)\"");

    static void ship(Connection db, Message m) throws Exception {
        Matcher order = ORDER.matcher(m.payload());
        if (!order.find()) {
            throw new Exception("no order_id");
        }
        call(db, "insert into shipments (event_id, order_id) values (hashtext(?), ?)", m.id(), order.group(1));
    }

    public static void main(String[] arguments) throws Exception {
        Thread worker = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            stopped = true;
            try {
                worker.join();
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(0); // it was asked to stop, and did
        }));
        run(arguments[0], arguments[1], Worker::ship);
    }
}
