package com.example.order;

import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

public class OpenOrderServiceImpl implements OpenOrderService {

    private final JdbcTemplate jdbc;

    public OpenOrderServiceImpl(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public List<Order> open(String customer) {
        return jdbc.query(
                "SELECT id, customer, sku, quantity FROM orders WHERE customer = ? ORDER BY id DESC LIMIT 50",
                (row, number) -> new Order(row.getString(1), row.getString(2), row.getString(3), row.getInt(4)),
                customer);
    }
}
