package com.example.promo;

import com.example.client.AccountClient;
import com.example.client.UnavailableException;
import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import java.time.Duration;
import java.time.LocalDate;
import java.util.concurrent.ThreadLocalRandom;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RestController;

/** Books a customer's daily bonus. Customers press the button again and again, so the pod of a customer remembers it. */
@RestController
class BonusController {

    private static final int TRIES = 2;
    private static final long CENTS = -10;

    private final AccountClient accounts;
    private final Cache<String, Boolean> booked =
            Caffeine.newBuilder().maximumSize(1_000_000).expireAfterWrite(Duration.ofDays(1)).build();

    BonusController(AccountClient accounts) {
        this.accounts = accounts;
    }

    @PostMapping("/bonus")
    boolean book(@RequestHeader("x-customer") String customer) throws UnavailableException, InterruptedException {
        String entry = "bonus-" + customer + "-" + LocalDate.now();
        if (booked.asMap().putIfAbsent(entry, true) != null) {
            return false;
        }
        try {
            return add(entry);
        } catch (UnavailableException | InterruptedException e) {
            booked.invalidate(entry);
            throw e;
        }
    }

    private boolean add(String entry) throws UnavailableException, InterruptedException {
        for (int attempt = 1; ; attempt++) {
            try {
                return accounts.add("campaign", entry, CENTS);
            } catch (UnavailableException e) {
                if (attempt == TRIES) {
                    throw e;
                }
                Thread.sleep(ThreadLocalRandom.current().nextLong(100L << attempt));
            }
        }
    }
}
