// Publishes events in the transaction of the change: java -cp postgresql.jar Publisher.java URL PREFIX COUNT

import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.OptionalLong;

public class Publisher {
    record Order(String id, BigDecimal amount) {}

    static final String PUBLISH = """
        select events.outbox_publish('shop_events', 'order.placed',
            jsonb_build_object('order_id', ?::text, 'amount', ?::numeric), p_aggregate_id => ?::text)""";

    /** Stores an order and publishes that it was placed: both happen or neither. Returns the event's id, or nothing if the order was there. */
    static OptionalLong placeOrder(Connection db, Order order) throws SQLException {
        try {
            OptionalLong id = store(db, order) ? OptionalLong.of(publish(db, order)) : OptionalLong.empty();
            db.commit();
            return id;
        } catch (SQLException failure) {
            db.rollback();
            throw failure;
        }
    }

    static boolean store(Connection db, Order order) throws SQLException {
        try (PreparedStatement insert = db.prepareStatement("insert into orders (order_id, amount) values (?, ?) on conflict do nothing")) {
            insert.setString(1, order.id());
            insert.setBigDecimal(2, order.amount());
            return insert.executeUpdate() == 1; // else it was published then
        }
    }

    static long publish(Connection db, Order order) throws SQLException {
        try (PreparedStatement publish = db.prepareStatement(PUBLISH)) {
            publish.setString(1, order.id());
            publish.setBigDecimal(2, order.amount());
            publish.setString(3, order.id());
            try (var rows = publish.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    public static void main(String[] arguments) throws SQLException {
        try (Connection db = DriverManager.getConnection(arguments[0])) {
            db.setAutoCommit(false);
            for (int n = 0; n < Integer.parseInt(arguments[2]); n++) {
                Order order = new Order(arguments[1] + "-" + n, BigDecimal.valueOf(n % 10)); // the table refuses an amount of 0
                try {
                    placeOrder(db, order);
                } catch (SQLException refused) {
                    if (!refused.getSQLState().equals("23514")) {
                        throw refused;
                    }
                    System.out.println("{\"order_id\": \"" + order.id() + "\", \"refused\": true}");
                }
            }
        }
    }
}
