#include <vector>
using std::vector;

namespace shapes {

/// A shape. It has an area.
template <typename T>
class Shape : public Base {
public:
    Shape(int size);
    ~Shape() {}
    virtual T area() const = 0;
    bool operator==(const Shape &other) const { return true; }
};

using Id = int;

template <typename T>
T Shape<T>::area() const { return T(); }

struct Point { int x; };

}  // namespace shapes

int main(int argc, char **argv) { return 0; }
