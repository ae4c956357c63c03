"""Checks the changes that each operator makes to a fixed text. `make mutants` runs this first."""
import operators

TEXT = '''#include "a < b.h" /* if (x) */
static int clamp(int x, int most)
{
    if (x < 0) return 0; // x - most
    assert(most > 1);
    return x <= most && most != 3 ? x : most;
}

template <int W> DEV static float turn(const args &p, float *to)
{
    const float angle = p.at * 0.5f;
    for (int i = 0; i < W; i++) to[i] = share(angle, i);
    barrier_wait(p);
    if (first && p.row < p.rows) {
        to[0] = p.row - W;
        say("a - b, c < d");
    }
    return angle;
}
'''
WANTED = {
    'negate': ['if (!(x < 0)) return 0; // x - most', 'return x <= most || most != 3 ? x : most;',
               'return x <= most && most == 3 ? x : most;', 'if (!(first && p.row < p.rows)) {', 'if (first || p.row < p.rows) {'],
    'off by one': ['if (x <= 0) return 0; // x - most', 'if (x < 1) return 0; // x - most', 'if (x < 0) return 1; // x - most',
                   'return x < most && most != 3 ? x : most;', 'return x <= most && most != 4 ? x : most;',
                   'for (int i = 0; i <= W; i++) to[i] = share(angle, i);', 'for (int i = 1; i < W; i++) to[i] = share(angle, i);',
                   'if (first && p.row <= p.rows) {'],
    'drop a wait': [';'],
    'swap operands': ['return x <= most && most != 3 ? most : x;', 'for (int i = 0; i < W; i++) to[i] = share(i, angle);',
                      'to[0] = W - p.row;'],
    'scale by 1.02': ['const float angle = p.at * 0.51f;', 'const float angle = (p.at * 0.5f) * 1.02f;', 'return (angle) * 1.02f;'],
    'drop a check': ['; // x - most', 'return most != 3 ? x : most;', 'return x <= most ? x : most;', 'if (true) {',
                     'if (p.row < p.rows) {', 'if (first) {'],
    'loosen a bound': ['return x <= 10 * most && most != 3 ? x : most;'],
    'drop a statement': ['for (int i = 0; i < W; i++) ;', ';', ';'],
}


def test():
    made = {}
    for m in operators.mutants_of('area', 'file.c', TEXT):
        assert TEXT[m.start:m.end] != m.new and m.function in ('clamp', 'turn'), m
        assert m.line == TEXT.count('\n', 0, m.start) + 1 and m.loops == (m.function == 'turn'), m
        made.setdefault(m.operator, []).append(m.new_text)
    for operator in operators.OPERATORS:
        assert sorted(made.get(operator, [])) == sorted(WANTED[operator]), (operator, made.get(operator), WANTED[operator])
    drawn = operators.draw(list(operators.mutants_of('area', 'file.c', TEXT)), '7')
    moved = operators.draw(list(operators.mutants_of('area', 'other.c', '\n\nint other;\n' + TEXT)), '7')
    assert [m.new_text for m in drawn] == [m.new_text for m in moved], 'what is drawn hangs on where it stands'
    assert len(drawn) == sum(map(len, WANTED.values()))


if __name__ == '__main__':
    test()
