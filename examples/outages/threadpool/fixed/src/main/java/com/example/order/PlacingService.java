package com.example.order;

/** Takes orders. */
public interface PlacingService {

    /** Places an order; the same order twice counts once. Returns false if there is not enough in stock. */
    boolean place(Order order);
}
