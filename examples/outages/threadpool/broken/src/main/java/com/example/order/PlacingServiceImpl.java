package com.example.order;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionTemplate;

public class PlacingServiceImpl implements PlacingService {

    private final JdbcTemplate jdbc;
    private final TransactionTemplate transaction;

    public PlacingServiceImpl(JdbcTemplate jdbc, TransactionTemplate transaction) {
        this.jdbc = jdbc;
        this.transaction = transaction;
    }

    @Override
    public boolean place(Order order) {
        return transaction.execute(status -> {
            int added = jdbc.update(
                    "INSERT IGNORE INTO orders (id, customer, sku, quantity) VALUES (?, ?, ?, ?)",
                    order.id(), order.customer(), order.sku(), order.quantity());
            if (added == 0) {
                return true;
            }
            int taken = jdbc.update(
                    "UPDATE stock SET free = free - ? WHERE sku = ? AND free >= ?",
                    order.quantity(), order.sku(), order.quantity());
            if (taken == 0) {
                status.setRollbackOnly();
            }
            return taken == 1;
        });
    }
}
