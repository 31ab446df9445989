"""Takes from the stock what waiting orders need. Started every minute; an order that finds no stock waits for a later run."""

import os
import time
from datetime import datetime, timedelta

import pymysql

MOST_ROWS = 200
RUN = 40.0
"""Seconds after which a run takes no further rows: below the deadline of the job."""
WAIT = timedelta(minutes=10)
GIVE_UP = timedelta(days=7)


def connect() -> pymysql.Connection:
    return pymysql.connect(
        host="mysql-primary.shop.svc.cluster.local",
        user="reserve",
        password=os.environ["DB_PASSWORD"],
        database="stock",
        connect_timeout=3,
        read_timeout=5,
        write_timeout=5,
        # In milliseconds, and in the server: a client that leaves does not end its query.
        init_command="SET SESSION max_execution_time = 4000",
    )


def run(connection: pymysql.Connection) -> None:
    end = time.monotonic() + RUN
    expire(connection)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, sku, quantity FROM pending_orders WHERE next_try <= %s ORDER BY next_try LIMIT %s",
            (datetime.now(), MOST_ROWS),
        )
        pending_orders = cursor.fetchall()
    for order, sku, quantity in pending_orders:
        if time.monotonic() >= end:
            break
        reserve(connection, order, sku, quantity)


def expire(connection: pymysql.Connection) -> None:
    """Orders that found no stock for a week are given back to their buyers, so the table holds a week at most."""
    oldest = datetime.now() - GIVE_UP
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE orders SET state = 'returned' WHERE state = 'pending' AND created_at < %s ORDER BY created_at LIMIT 1000",
            (oldest,),
        )
        cursor.execute("DELETE FROM pending_orders WHERE created_at < %s ORDER BY created_at LIMIT 1000", (oldest,))
    connection.commit()


def reserve(connection: pymysql.Connection, order: int, sku: str, quantity: int) -> None:
    with connection.cursor() as cursor:
        taken = cursor.execute(
            "UPDATE stock SET free = free - %s WHERE sku = %s AND free >= %s",
            (quantity, sku, quantity),
        )
        if taken:
            cursor.execute("DELETE FROM pending_orders WHERE id = %s", (order,))
            cursor.execute("UPDATE orders SET state = 'reserved' WHERE id = %s", (order,))
        else:
            cursor.execute("UPDATE pending_orders SET next_try = %s WHERE id = %s", (datetime.now() + WAIT, order))
    connection.commit()


if __name__ == "__main__":
    connection = connect()
    try:
        run(connection)
    finally:
        connection.close()
