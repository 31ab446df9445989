package com.example.gateway;

import com.example.client.AccountClient;
import com.example.client.UnavailableException;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Takes the payments of the shop. */
@RestController
class EntryController {

    private static final int TRIES = 2;

    private final AccountClient accounts;

    EntryController(AccountClient accounts) {
        this.accounts = accounts;
    }

    @PutMapping("/accounts/{account}/entries/{entry}")
    boolean add(@PathVariable String account, @PathVariable String entry, @RequestParam long cents)
            throws UnavailableException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return accounts.add(account, entry, cents);
            } catch (UnavailableException e) {
                if (attempt == TRIES) {
                    throw e;
                }
                Thread.sleep(ThreadLocalRandom.current().nextLong(100L << attempt));
            }
        }
    }
}
