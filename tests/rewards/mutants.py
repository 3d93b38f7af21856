"""Small faults put into code: most of them make a right solution wrong."""

import ast

SWAPPED = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutate(ast.NodeTransformer):
    """Changes the one place in a function whose number it is given, and counts the places."""

    def __init__(self, function, place):
        self.function = function
        self.place = place
        self.count = 0

    def visit_Module(self, node):
        for statement in node.body:
            if getattr(statement, "name", None) == self.function:
                self.visit(statement)
        return node

    def is_it(self):
        self.count += 1
        return self.count - 1 == self.place

    def swapped(self, operator):
        kind = SWAPPED.get(type(operator))
        return kind() if kind and self.is_it() else operator

    def visit_Compare(self, node):
        node.ops = [self.swapped(op) for op in node.ops]
        return self.generic_visit(node)

    def visit_BinOp(self, node):
        node.op = self.swapped(node.op)
        return self.generic_visit(node)

    visit_BoolOp = visit_BinOp

    def visit_Constant(self, node):
        if type(node.value) is int and self.is_it():
            node.value += 1
        return node

    def visit_Return(self, node):
        if node.value is not None and self.is_it():
            return ast.Return(ast.Constant(None))
        return self.generic_visit(node)


def mutants(code, function, at_most):
    """The code with one fault, at places spread over all that the function has."""
    counted = Mutate(function, -1)
    counted.visit(ast.parse(code))
    places = range(counted.count)
    if len(places) > at_most:
        places = [i * (len(places) - 1) // (at_most - 1) for i in range(at_most)]
    for place in places:
        tree = Mutate(function, place).visit(ast.parse(code))
        yield ast.unparse(ast.fix_missing_locations(tree))
