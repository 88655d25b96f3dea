# inputs: ([0.3, -0.4, 0.8],), ([0.1, 0.2],), ([],)


def break_and_else(xs):
    score = 1.0
    for x in xs:
        if x == 0:
            continue
        if x < 0:  # a bad one
            score = score * x
            break
        score += x**2
    else:
        score = score * 10.0
    return score
# output


def break_and_else(xs):
    score = 1.0
    stopped = False
    for x in xs:
        if x != 0:
            if x < 0:  # a bad one
                score = score * x
                stopped = True
            else:
                score = score + x**2
        if stopped:
            break
    if not stopped:
        score = score * 10.0
    return score
