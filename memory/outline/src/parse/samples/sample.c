#include <stdio.h>
#include "list.h"

#define LIMIT 10
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* A list of names. */
struct list {
    struct list *next;
};

typedef struct { int x; } point_t;
typedef struct node {
    struct node *next;
} Node, *NodeList;
typedef enum { UP, DOWN } way_t;
typedef int (*callback)(void *);
enum color { RED, BLUE };

static int counter = 3;
int list_length(const struct list *list);

/**
 * Adds a name.
 */
static struct list *
list_add(struct list *list, const char *name)
{
    struct { int local; } tmp;
    return list;
}
