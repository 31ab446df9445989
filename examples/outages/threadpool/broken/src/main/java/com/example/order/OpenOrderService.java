package com.example.order;

import java.util.List;

/** Orders on their way. */
public interface OpenOrderService {

    /** The newest 50 orders of a customer. */
    List<Order> open(String customer);
}
