"""In: C or C++ source text. Out: single-place changes of it, each by one of a fixed set of operators, with the function around it.
The runner finds out what does not compile. Text alone: the house's formatting (spaces around binary operators, one
statement a line) is what makes this work without a parser.

A mutant's name is its function and the text before and after, so it is found again after code has moved.
"""
import collections
import hashlib
import re

Mutant = collections.namedtuple('Mutant', 'area path line function operator start end new old_text new_text loops')

# Frees are left out, since LeakSanitizer finds leaks; asserts, too, since they hold by tfgen's own logic.
NOT_DROPPED = re.compile(r'\s*(return|goto|break|continue|case|default|else|assert|static_assert|free|arena_free|'
                         r'fclose|close|munmap|dlclose|va_\w+)\b')
WAITS = re.compile(r'[ \t](\w*(?:barrier|wait|fence|sync|arrive|commit|join)\w*(?:<[^;()]*>)?\([^;]*\));')
SIMPLE = r'[A-Za-z_][\w.]*(?:->\w+)*(?:\[[\w+ -]+\])?'
BOUND = r'(?:\w+(?:\.|->))*\w*(?:bound|limit|toleran|error|worst|rms|ratio|noise|unit|most|room|high|low|REF_UNIT)\w*'
COMPARED = re.compile(r' (<=|>=|<|>) ')
OTHER = {'<': '<=', '<=': '<', '>': '>=', '>=': '>', '==': '!=', '!=': '==', '&&': '||', '||': '&&'}


def code_only(text):
    """The text with comments, strings, characters and preprocessor lines blanked, at the same places."""
    def blank(m):
        return re.sub(r'[^\n]', ' ', m.group())
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*', blank, text,
                  flags=re.S | re.M)


def closing(code, opened):
    """Index of the bracket that closes the one at `opened`, or -1."""
    depth = 0
    for i in range(opened, len(code)):
        depth += (code[i] in '([{') - (code[i] in ')]}')
        if depth == 0:
            return i
    return -1


def functions(code):
    """(start, end, name, head) of each function body, outer ones first."""
    found = []
    for m in re.finditer(r'^[ \t]*(?!else\b|if\b|for\b|while\b|switch\b|return\b|do\b)([A-Za-z_][^;{}=]*?\b(\w+)\([^;{}]*\)[^;{}()]*)\{',
                         code, re.M):
        end = closing(code, m.end() - 1)
        if m.group(2) not in ('if', 'for', 'while', 'switch') and end > 0:
            found.append((m.end(), end, m.group(2), m.group(1)))
    return found


def conditions(code):
    for m in re.finditer(r'\b(if|while)(?: constexpr)? \(', code):
        end = closing(code, m.end() - 1)
        if end > 0:
            yield m.group(1), m.start(), m.end(), end


def negate(code, text):
    for kind, _, start, end in conditions(code):
        if kind == 'if':
            yield start, end, f'!({text[start:end]})'
    for m in re.finditer(r' (==|!=|&&|\|\|) ', code):
        yield m.start(1), m.end(1), OTHER[m.group(1)]
    for m in re.finditer(r'(?<=[( ])!(?=[a-z])', code):
        yield m.start(), m.end(), ''


def off_by_one(code, _):
    for m in COMPARED.finditer(code):
        yield m.start(1), m.end(1), OTHER[m.group(1)]
    for m in re.finditer(r'(?:[-+*/%=<>?:,(]|<<|>>|==|return) ?(?<![\w.])(\d+)(?![\w.])', code):
        yield m.start(1), m.end(1), str(int(m.group(1)) + 1)
    for m in re.finditer(r' [-+] 1(?![\w.])', code):
        yield m.start(), m.end(), ''


def drop_wait(code, _):
    for m in WAITS.finditer(code):
        if re.search(r'(^|[;{}:])\s*$|\)\s*$', code[:m.start(1)]):
            yield m.start(1), m.end(1), ''


def swap(code, text):
    for m in re.finditer(rf'(?<![\w.\]>)] [-+*/%] )({SIMPLE}) (-|/|%|<<|>>) ({SIMPLE})(?![\w(.\[<-])', code):
        yield m.start(1), m.end(3), f'{m.group(3)} {m.group(2)} {m.group(1)}'
    for m in re.finditer(rf'\b\w+\(({SIMPLE}), ({SIMPLE})(?=[,)])', code):
        if m.group(1) != m.group(2):
            yield m.start(1), m.end(2), f'{m.group(2)}, {m.group(1)}'
    for m in re.finditer(r' \? ([^?:;,(){}]+) : ([^?:;,(){}]+)(?=[;,)])', code):
        if m.group(1) != m.group(2):
            yield m.start(1), m.end(2), f'{text[m.start(2):m.end(2)]} : {text[m.start(1):m.end(1)]}'


def scale(code, text):
    for m in re.finditer(r'(?<![\w.])\d+\.\d*(?:e[-+]?\d+)?(f?)(?![\w.])', code):
        value = float(m.group().rstrip('f')) * 1.02
        if value:
            yield m.start(), m.end(), f'{value:.9g}'.replace('e-0', 'e-') + ('' if '.' in f'{value:.9g}' or 'e' in f'{value:.9g}'
                                                                             else '.0') + m.group(1)
    for m in re.finditer(r'\b(?:float|double|vec<float, \w+>) \w+(?:\[\w+\])? = ([^;,{}]+)(?=[;,])', code):
        if text[m.start(1):m.end(1)].count('(') == text[m.start(1):m.end(1)].count(')'):
            yield m.start(1), m.end(1), f'({text[m.start(1):m.end(1)]}) * 1.02f'
    for start, end, _, head in functions(code):
        if re.search(r'\b(float|double|vec<float, \w+>) \**\w+\(', head) and '*' not in head.split('(')[0]:
            # 0, infinity and NaN times 1.02 are unchanged
            for m in re.finditer(r'\breturn (?!(?:0|0\.0f?|-?INFINITY|NAN);)([^;{}]+);', code[start:end]):
                at = start + m.start(1)
                yield at, start + m.end(1), f'({text[at:start + m.end(1)]}) * 1.02f'


def drop_check(code, _):
    for kind, at, start, end in conditions(code):
        after = re.match(r' (?:return|continue|break)\b[^;{}]*;', code[end + 1:])
        if kind == 'if' and after and not re.match(r'\s*else\b', code[end + 1 + after.end():]) and not re.search(r'else $', code[:at]):
            yield at, end + 1 + after.end(), ';'
        elif kind == 'if':
            yield start, end, 'true'
    one = rf'!?{SIMPLE}(?:\([\w, .>-]*\))?(?: (?:<|<=|==|!=|>|>=) -?[\w.>\[\]-]+)?'
    for m in re.finditer(rf'(?:[(=?] ?|[&|] |return )({one} && )', code):
        yield m.start(1), m.end(1), ''
    for m in re.finditer(rf'( && {one})(?=[);]| [&|?])', code):
        yield m.start(1), m.end(1), ''
    for m in re.finditer(rf'(?<=[=(,n] )({one})(?= \? )', code):
        yield m.start(1), m.end(1), 'true'


def loosen(code, text):
    for m in re.finditer(rf' (<=|<|>=|>) ({BOUND}|[1-9]\d*)(?![\w(.\[])', code):
        yield m.start(2), m.end(2), f'10 * {m.group(2)}'
    for m in re.finditer(rf'(?<![\w.>])({BOUND})(?:\[[^\]\n]*\])? \+?= ([^;,{{}}]+)(?=;)', code):
        yield m.start(2), m.end(2), f'10 * ({text[m.start(2):m.end(2)]})'


def drop_statement(code, _):
    for m in re.finditer(r'(?:^[ \t]+|\) |\belse )(\**[A-Za-z_(][\w.\->]*(?:\[[^;\n]*?\])?'
                         r'(?:\([^;]*\)|(?:->\w+|\.\w+)* [-+*/|&^]?=[^=][^;]*|\+\+|--)(?:\([^;]*\))?);', code, re.M):
        if not NOT_DROPPED.match(m.group(1)) and not WAITS.match(' ' + m.group(1) + ';'):
            yield m.start(1), m.end(1), ''


OPERATORS = {'negate': negate, 'off by one': off_by_one, 'drop a wait': drop_wait, 'swap operands': swap, 'scale by 1.02': scale,
             'drop a check': drop_check, 'loosen a bound': loosen, 'drop a statement': drop_statement}


def squeezed(text):
    return ' '.join(text.split())


def mutants_of(area, path, text):
    code = code_only(text)
    bodies = functions(code)
    seen = set()
    for operator, changes in OPERATORS.items():
        for start, end, new in changes(code, text):
            inside = [f for f in bodies if f[0] <= start < f[1]]
            first, last = text.rfind('\n', 0, start) + 1, text.find('\n', max(end, start + 1))
            old_text, new_text = squeezed(text[first:last]), squeezed(text[first:start] + new + text[end:last])
            if not inside or old_text == new_text or re.search(r'\bassert\(', old_text):
                continue
            if operator in ('off by one', 'loosen a bound') and re.search(r'(alloc|numbers)\(', old_text):
                continue # AddressSanitizer, not the suites, would notice too little room
            if operator == 'scale by 1.02' and re.search(r'seconds|spent|\bnow\b', old_text):
                continue # no test depends on time
            body = inside[-1]
            name = (body[2], old_text, new_text)
            if name in seen:
                continue
            seen.add(name)
            loops = operator == 'drop a wait' or re.search(r'\b(for|while|do)\b', code[body[0]:body[1]]) is not None
            yield Mutant(area, path, text.count('\n', 0, start) + 1, body[2], operator, start, end, new, old_text, new_text, loops)


def draw(mutants, seed):
    """Each area and, in it, each operator is drawn about equally often. The order depends only on names: other code does not change it."""
    groups = collections.defaultdict(list)
    for m in mutants:
        digest = hashlib.sha256(f'{seed}|{m.function}|{m.old_text}|{m.new_text}'.encode()).digest()
        groups[m.area, m.operator].append((int.from_bytes(digest[:8], 'big'), m))
    ranked = []
    for (area, operator), found in groups.items():
        found.sort(key=lambda pair: pair[0])
        ranked += [(place, hashlib.sha256(f'{seed}|{area}|{operator}|{place}'.encode()).digest(), m) for place, (_, m) in enumerate(found)]
    ranked.sort(key=lambda r: r[:2])
    by_area = collections.defaultdict(list)
    for _, _, m in ranked:
        by_area[m.area].append(m)
    turns = [[by_area[area][i] for area in sorted(by_area) if i < len(by_area[area])] for i in range(max(map(len, by_area.values())))]
    return [m for turn in turns for m in turn]
