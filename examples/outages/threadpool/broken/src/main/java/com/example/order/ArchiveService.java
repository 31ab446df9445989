package com.example.order;

import java.time.LocalDate;
import java.util.List;

/** Orders of past years. */
public interface ArchiveService {

    /** The first 50 orders of a customer with a part of this name, delivered in a range of days. */
    List<Order> find(String customer, String name, LocalDate from, LocalDate to);
}
