"""Reports in Chinese."""

from .wording import Wording

_AUDITS = (
    (r"^no counterexample among all (\S+) pairs", r"在全部 \1 对相邻数据集中没有反例"),
    (r"^no counterexample among (\S+) pairs", r"在 \1 对相邻数据集中没有找到反例"),
    (
        r": a proof for this universe\. Sensitivity (\S+),",
        r"：对这个值域而言这就是证明。敏感度 \1，",
    ),
    (r": no proof\. Sensitivity (\S+),", r"：不是证明。敏感度 \1，"),
    (r" spread (\S+), not monotonic$", r"极差敏感度 \1，不单调"),
    (r" spread (\S+), monotonic$", r"极差敏感度 \1，单调"),
    (r"^FALSE: no scores for one of (.*?) and (.*): ", r"不成立：在 \1 与 \2 之一上得不到得分："),
    (
        r"the score function failed with (\w+); its message may quote the data, so it is not shown\. .*$",
        r"打分函数因 \1 失败；错误信息可能引用数据，所以不显示。请自己在可以查看的数据上调用它",
    ),
    (r"^FALSE: sensitivity: declared", "不成立：敏感度：declared"),
    (r"^FALSE: spread: declared", "不成立：极差敏感度：declared"),
    (r"^FALSE: monotonic: declared", "不成立：单调性：declared"),
    (
        r"(?<=：)declared (\S+), found (\S+) for (.*?) and (.*?) on (.*?) and (.*)",
        r"声明为 \1，实际达到 \2；候选 \3 与 \4，数据集 \5 与 \6",
    ),
    (
        r"(?<=：)declared (\S+), found (\S+) for (.*?) on (.*?) and (.*)",
        r"声明为 \1，实际达到 \2；候选 \3，数据集 \4 与 \5",
    ),
    (r" with confidence (\S+) \((\S+) draws each; ", r"，置信度 \1（各抽取 \2 次；"),
    (r"a lower bound, no proof of privacy\)$", "这是下界，不是隐私的证明）"),
    (r"^not told apart", "无法区分"),
    (r"^told apart by (.*) \((?=\d+ pairs of runs)", r"可以由 \1 区分 ("),
    (r" \((\d+) pairs of runs; the same work every time;", r"（运行 \1 对；每次的工作量都相同；"),
    (r" \((\d+) pairs of runs; work varies;", r"（运行 \1 对；工作量有变化；"),
    (r"(?<=；) time ratio (\S+)\)$", r"时间之比 \1）"),
)

_GUARANTEES = (
    (
        r"no privacy guarantee: the candidates were taken from the data",
        "没有隐私保证：候选取自数据",
    ),
    (r"^no privacy guarantee: ", "没有隐私保证："),
    (r"no privacy guarantee", "没有隐私保证"),
    (r"^(\S+) answers?: ", r"\1 个答案："),
    (r" whenever one stops", "无论在哪里停下"),
    (r"(?<=,)无论", " 无论"),
    (r" in all, from ", "（合计），来自 "),
    (r" in all", "（合计）"),
    (r" or (?=[ερ] )", " 或 "),
    (r", bounded range", "，有界极差"),
    (r", mixed range", "，混合极差"),
    (r", summed range", "，累加极差"),
    (r", as logistic noise", "，相当于 logistic 噪声"),
    (r", as Laplace noise", "，相当于拉普拉斯噪声"),
    (r", as Gaussian noise", "，相当于高斯噪声"),
    (r", zCDP", "，零集中差分隐私"),
    (r"Rényi divergences of (\d+) orders", r"\1 个阶的 Rényi 散度"),
    (r"(\S+) privacy losses", r"\1 个隐私损失"),
    (r"(?<=\+ )([\d,]+) more", r"另外 \1 项"),
    (r",? ?\(add/remove one record\)$", "（增删一条记录）"),
    (r",? ?\(replace one record\)$", "（替换一条记录）"),
    (r",? ?\(add/remove one (.+)\)$", r"（增删一个 \1）"),
    (r",? ?\(replace one (.+)\)$", r"（替换一个 \1）"),
    (r", (?=[εδρ] |无论)", "，"),
)

_MECHANISMS = (
    (r"^exponential\b", "指数机制 exponential"),
    (r"^permute_and_flip\b", "置换翻转机制 permute_and_flip"),
    (r"^noisy_max\b", "带噪最大值 noisy_max"),
    (r"^base2\b", "以 2 为底的指数机制 base2"),
    (r"^joint_quantiles\b", "联合分位数 joint_quantiles"),
    (r"^peeling\b", "逐个剥离 peeling"),
    (r"^geometric\b", "几何噪声机制 geometric"),
)

_OTHERS = (
    (r"^infinite$", "无穷大"),
    (r"^nothing$", "零"),
    (r"^pictures need matplotlib: pip install", "作图需要 matplotlib：pip install"),
)

_PRIVATE_LABELS = (
    (r"contains private data: do not publish", "含隐私数据，不得公布"),
    (
        r"exact distribution: (.*) contains private data: do not publish",
        r"精确的分布：\1，含隐私数据",
    ),
    (r"exact distribution: (.*)", r"精确的分布：\1"),
    (r"probability of each candidate", "每个候选的概率"),
)

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DATES = (
    *((rf"(\d+)-{name}(.*)", rf"\g<1>-{i:02}\g<2>") for i, name in enumerate(_MONTHS, 1)),
    *((name, f"{i} 月") for i, name in enumerate(_MONTHS, 1)),
)

_ERROR, _UNIT = "worst expected error", r"\(in units of the range sensitivity\)"
_EPSILON = r"ε of one answer \(more privacy to the left\)"
_LABELS = (
    (f"{_ERROR} {_UNIT} by {_EPSILON}", "最坏的期望误差，随一个答案的 ε 变化"),
    (_ERROR, "最坏的期望误差"),
    (_UNIT, "（以极差敏感度为单位）"),
    (_EPSILON, "一个答案的 ε（越靠左越保护隐私）"),
    (r"here: (.*)", r"此处：\1"),
    (r"dashed: what was claimed, (.*)", r"虚线：所声称的 \1"),
    (r"privacy loss \(log-ratio of the two probabilities\)", "隐私损失（两个概率之比的对数）"),
    (r"output", "输出"),
    (r"(.*\d: [ερ] = \S+) spent", r"\1，已花"),
    (r"([ερ]) spent by time", r"已花的 \1，随时间变化"),
    (r"([ερ]) spent", r"已花的 \1"),
    (r"spent", "已花"),
    (r"budget", "预算"),
    (r"time", "时间"),
    *_DATES,
)

CHINESE = Wording(
    lang="zh-Hans",
    private="隐私：本报告展示了取决于隐私数据的分布，不得公布。",
    made="由 {versions} 写于 {now}。",
    no_picture="{says}（没有图：{reason}。）",
    think={
        "add_remove": "设想同样的数据，只是增加或删除了一条记录。",
        "replace_one": "设想同样的数据，只是把一条记录换成了另一条。",
    },
    whether={
        "add_remove": "这条记录在数据里",
        "replace_one": "数据里是这一条而不是那一条记录",
    },
    nothing="没有任何承诺。{said}。",
    failing="{think}无论想在公布的结果中寻找什么，它在一份数据上的概率，"
    "最多是在另一份数据上的 {factor} 倍再加 {delta}。",
    chance="{think}无论公布的结果是什么，它在一份数据上的概率，最多是在另一份数据上的 {factor} 倍。",
    belief="因此，如果有人事先认为“{whether}”的可能性是一半对一半，那么看到答案之后，他最多有 {sure} 的把握，"
    "无论他还知道什么，也无论他的算力有多大。",
    no_protection="因此，如果有人事先认为“{whether}”的可能性是一半对一半，那么看到答案之后，他可能几乎完全确定："
    "这么大的 ε 保护不了任何人。",
    relation={
        "add_remove": "增加或删除一条记录；记录的条数也受到保护。{record}",
        "replace_one": "把一条记录换成另一条；记录的条数视为公开。{record}",
    },
    one_row="一条记录就是一行。",
    one_unit="一条记录是同一个 {unit} 的所有行。",
    exactness_title="有多精确",
    exactness=(
        "隐私参数都是分数。每个候选的权重都用一个区间表示，区间的端点是精确的数，并且证明了权重必在其中；"
        "没有任何权重被舍入为浮点数。一次抽取不断读取随机位，直到以这些位开头的每一个实数、以及区间内的每一种权重"
        "都得出同一个答案；在此之前就继续读取，并缩小区间。所以答案的分布就是证明中的分布，一位不差。",
        "仍需信赖的，是操作系统的随机位，以及所声明的敏感度属实。证明和误差分析见本库的文档（英文）："
        "“The draw, and why it is exact”；各个机制见“Mechanisms”。",
    ),
    release_title="一个保护隐私的答案",
    asked_title="问了什么",
    question="问题（记录原文）",
    not_recorded="没有记录",
    answer="答案",
    more_answers="{shown}，以及另外 {more:,} 个",
    mechanism="机制",
    promised_title="承诺了什么",
    exactly="准确地说",
    neighbours="相邻关系",
    cost_title="花了多少预算",
    pure="纯差分隐私",
    concentrated="零集中差分隐私",
    privacy="隐私",
    error_title="这样的答案有多好",
    error="无论数据怎样，答案的得分平均最多比最好的得分低 {error:.4g}；"
    "单位是一条记录最多能使两个得分之差改变多少。",
    error_picture="对一切数据而言最坏的期望误差，候选有 {candidates:,} 个；答案是在 ε = {epsilon:.4g} 下给出的。"
    "它与这份数据无关，所以是公开的。",
    distribution_title="分布：不得公布",
    distribution_picture="抽取答案所用的分布。它与数据同样属于隐私。",
    budget_title="{dataset} 的隐私预算",
    budget="总额 {total}，已花 {spent}；剩余 {remaining}。",
    granted="已花的数额中，{granted} 是各分析者的份额；份额在开设时就已支付。",
    spent_title="花了多少",
    remaining_title="还剩多少",
    promised_together="这里说的是所有答案合起来，包括已有的和将来的：超出预算的提问会被账本拒绝，"
    "除非所有者追加预算；那时所承诺的，就只是追加后的总额。",
    all_answers="所有答案（若不追加预算）",
    so_far="到目前为止的答案",
    none="没有",
    sums=("预算", "总额", "已花", "剩余"),
    history=("时间（UTC）", "分析者", "问题（记录原文）", "机制", "花费"),
    elsewhere="在别处作出",
    last_rows="最近的 {shown:,} 个；之前还有 {before:,} 个。",
    budget_picture="各个答案的花费按时间累计，以 {sign} 计；虚线是全部预算。",
    chain_title="账目未被改动",
    chain="每个事件都带有此前所有事件的散列值。为了写这份报告，已重新计算整条链和全部合计，结果一致。"
    "请把最新散列值与记在别处的值比较：只有这样才能发现整本账被调换。",
    events="事件数",
    head="最新散列值",
    audit_title="对一个隐私说法的审计",
    holds="对这一对数据集，说法 {claim} 成立。这是证明，不是测试。",
    false="说法 {claim} 不成立：这一对数据集就是反例。",
    bounded_range="，有界极差",
    found_title="发现了什么",
    claimed="所声称的",
    true="这一对的真实 ε",
    at_output="{epsilon}，在输出 {output} 处",
    range="对数比之间的最大差",
    delta="所声称的 ε 之下的 δ",
    slack="所声称的 ε 与真实 ε 之比",
    losses_picture="每个输出透露多少：它在第一份数据上的概率与在第二份数据上的概率之比的对数。"
    "所声称的 ε 允许的范围在两条虚线之间。",
    meaning_title="这意味着什么",
    meaning=(
        "同一个机制在两份相邻的数据集上有两个分布。审计为二者算出可验证的区间，再逐个输出比较："
        "真实的 ε 是两个概率之比的对数的最大值。所列的数都是可验证的界，没有任何抽样。",
        "它只针对这两份数据集。一个机制的 ε 是对一切相邻数据集的最大值，所以在这里成立的说法可能在别处不成立，"
        "而在这里不成立的说法就是不成立。命题与证明见本库的文档（英文）：“Audit”。",
        "这一对数据集视为虚构的。对真实数据的审计与数据同样属于隐私。",
    ),
    audits={
        "SamplingAudit": "ε 的一个下界。它可以推翻一个说法，但绝不能证明一个说法。",
        "SensitivityAudit": "审计的结果：如果没有反例，并且穷举了所有情形，它就是对这个值域和这些大小的证明。",
        "TimingAudit": "两个输入在工作量和时间上有何不同。它可以发现泄漏，但绝不能说明没有泄漏。",
    },
    proof="命题与证明见本库的文档（英文）：“Audit”。",
    made_up="这些数据视为虚构的。对真实数据的审计与数据同样属于隐私。",
    notations=(*_GUARANTEES, *_AUDITS, *_MECHANISMS, *_OTHERS),
    labels=_LABELS,
    private_labels=_PRIVATE_LABELS,
)
