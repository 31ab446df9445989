package com.example.account;

import java.util.concurrent.CompletableFuture;

/** An entry that waits to be written, and where to tell its caller. */
record Entry(String id, long cents, CompletableFuture<Boolean> written) {

    Entry(String id, long cents) {
        this(id, cents, new CompletableFuture<>());
    }
}
