package org.example;

import java.util.List;

/** Keeps users. */
@Service
public class Users<T> implements Iterable<T> {
    private final int size = 0;

    public Users(int size) { }

    /**
     * Finds a user by name. May be slow.
     */
    @Override
    public T find(String name) throws NotFound {
        return null;
    }

    interface Visitor { void visit(int id); }
    enum Mode { ON, OFF }
    record Point(int x, int y) { }
}

@interface Marked { String value(); }
