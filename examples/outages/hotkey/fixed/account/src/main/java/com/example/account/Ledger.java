package com.example.account;

import java.util.List;
import java.util.UUID;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Repository;
import org.springframework.transaction.annotation.Transactional;

/** The tables of accounts and their entries. */
@Repository
class Ledger {

    private final JdbcTemplate jdbc;

    Ledger(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    /** Four round trips, the commit included. Returns false, and writes nothing, if the account is closed. */
    @Transactional(timeout = 1)
    public boolean write(String account, List<Entry> entries) {
        boolean open = jdbc.queryForObject("SELECT is_open FROM account WHERE id = ? FOR UPDATE", Boolean.class, account);
        if (!open) {
            return false;
        }
        String batch = UUID.randomUUID().toString();
        jdbc.batchUpdate(
                "INSERT IGNORE INTO entry (id, account, cents, batch) VALUES (?, ?, ?, ?)",
                entries.stream().map(entry -> new Object[] {entry.id(), account, entry.cents(), batch}).toList());
        // An entry that came twice keeps its first batch.
        jdbc.update(
                "UPDATE account SET cents = cents + (SELECT COALESCE(SUM(cents), 0) FROM entry WHERE batch = ?) WHERE id = ?",
                batch, account);
        return true;
    }
}
