package com.example.api;

import java.util.concurrent.CompletableFuture;

/** Entries of accounts that receive hundreds a second. */
public interface AccountService {

    /**
     * Adds an entry to the balance; the same entry twice counts once.
     *
     * @return false if the account is closed
     */
    CompletableFuture<Boolean> add(String account, String entry, long cents);
}
