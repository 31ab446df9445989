package com.example.order;

import java.time.LocalDate;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;

public class ArchiveServiceImpl implements ArchiveService {

    private final JdbcTemplate jdbc;

    public ArchiveServiceImpl(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Override
    public List<Order> find(String customer, String name, LocalDate from, LocalDate to) {
        return jdbc.query(
                "SELECT o.id, o.customer, o.sku, o.quantity FROM archived_orders o JOIN archived_parts p ON p.sku = o.sku"
                        + " WHERE o.customer = ? AND p.name LIKE CONCAT('%', ?, '%') AND o.delivered BETWEEN ? AND ?"
                        + " ORDER BY o.delivered DESC LIMIT 50",
                (row, number) -> new Order(row.getString(1), row.getString(2), row.getString(3), row.getInt(4)),
                customer, name, from, to);
    }
}
