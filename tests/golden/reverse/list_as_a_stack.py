def calculator(text, x, y):
    stack = []
    for word in text.split():
        if word == "x":
            stack.append(x)
        elif word == "y":
            stack.append(y)
        else:
            b, a = stack.pop(), stack.pop()
            stack.append(a * b if word == "*" else a + b)
    return sum(stack)


# argnums: 1
# inputs: ("x x * x +", 1.5, 2.0), ("x y *", 0.5, 3.0)
# output


from overt.runtime import (
    add,
    appended,
    part,
    popped,
    Saved,
    spread_over,
    sum_to,
    Undefined,
    without_last,
    zeros_like_tree,
)


def calculator_grad(text, x, y):
    # forward
    stack = []
    saved = Saved()
    a = b = Undefined
    for word in text.split():  # list_as_a_stack.py:3
        if word == "x":
            stack = appended(stack, x)
        elif word == "y":
            stack = appended(stack, y)
        else:
            b, stack = popped(stack, "pop")
            a, stack = popped(stack, "pop")
            stack = appended(stack, a * b if word == "*" else a + b)
        saved.push(word, a, b)
    # reverse
    stack_bar = spread_over(1.0, stack)
    x_bar = zeros_like_tree(x)
    for word, a, b in saved.reversed():  # undoes list_as_a_stack.py:3
        if word == "x":
            x_bar = add(x_bar, part(stack_bar, -1))
            stack_bar = without_last(stack_bar)
        elif word == "y":
            stack_bar = without_last(stack_bar)
        else:
            value_bar = part(stack_bar, -1)
            if word == "*":
                a_bar = sum_to(value_bar * b, a)
                b_bar = sum_to(value_bar * a, b)
            else:
                a_bar = sum_to(value_bar, a)
                b_bar = sum_to(value_bar, b)
            stack_bar = appended(appended(without_last(stack_bar), a_bar), b_bar)
    return x_bar
