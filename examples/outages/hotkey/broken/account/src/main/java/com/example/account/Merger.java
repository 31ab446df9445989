package com.example.account;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.NANOSECONDS;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import org.springframework.dao.DataAccessException;

/** Writes the entries of one account, up to 20 of them in one transaction. */
final class Merger extends Thread {

    private static final int BATCH = 20;
    private static final long LINGER = MILLISECONDS.toNanos(20);
    /** Some 2 MB: memory is what this protects. */
    private static final int CAPACITY = 10_000;

    private final String account;
    private final Ledger ledger;
    private final BlockingQueue<Entry> mergeQueue = new ArrayBlockingQueue<>(CAPACITY);

    Merger(String account, Ledger ledger) {
        super("merger-" + account);
        setDaemon(true);
        this.account = account;
        this.ledger = ledger;
    }

    CompletableFuture<Boolean> add(Entry entry) {
        if (!mergeQueue.offer(entry)) {
            throw new RejectedExecutionException(account + ": " + CAPACITY + " entries are waiting");
        }
        return entry.written();
    }

    @Override
    public void run() {
        try {
            while (true) {
                write(nextBatch());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private List<Entry> nextBatch() throws InterruptedException {
        List<Entry> batch = new ArrayList<>(BATCH);
        batch.add(mergeQueue.take());
        long end = System.nanoTime() + LINGER;
        while (batch.size() < BATCH) {
            Entry next = mergeQueue.poll(end - System.nanoTime(), NANOSECONDS);
            if (next == null) {
                break;
            }
            batch.add(next);
        }
        return batch;
    }

    private void write(List<Entry> batch) {
        try {
            boolean open = ledger.write(account, batch);
            batch.forEach(entry -> entry.written().complete(open));
        } catch (DataAccessException e) {
            batch.forEach(entry -> entry.written().completeExceptionally(e));
        }
    }
}
