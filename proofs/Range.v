(* Laws of answers on neighbouring data, what they promise (bounded range, epsilon-DP), and the exponential mechanism
   with its base measure. Candidates are 0, ..., n - 1. *)

From Coq Require Import Reals Lra Lia.
From Discreet Require Import Sums.
Open Scope R_scope.

Definition law (n : nat) (p : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> 0 <= p i) /\ sum n p = 1.

Definition mean (n : nat) (p f : nat -> R) : R := sum n (fun i => p i * f i).

Definition prob (n : nat) (p : nat -> R) (E : nat -> bool) : R :=
  sum n (fun i => if E i then p i else 0).

(* epsilon-DP for one pair of neighbours, both ways round. *)
Definition private (n : nat) (e : R) (p q : nat -> R) : Prop :=
  forall E, prob n p E <= exp e * prob n q E /\ prob n q E <= exp e * prob n p E.

(* Bounded range without division: p i / q i <= exp e * (p j / q j) for all i and j, by `range_of_logarithms`. *)
Definition bounded_range (n : nat) (e : R) (p q : nat -> R) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> p i * q j <= exp e * (p j * q i).

(* No event's log-odds differ by more than e. *)
Definition logistic (n : nat) (e : R) (p q : nat -> R) : Prop :=
  forall E, prob n p E * (1 - prob n q E) <= exp e * (prob n q E * (1 - prob n p E)) /\
    prob n q E * (1 - prob n p E) <= exp e * (prob n p E * (1 - prob n q E)).

Definition within_unit (n : nat) (f : nat -> R) : Prop := forall i, (i < n)%nat -> 0 <= f i <= 1.

Definition indicator (E : nat -> bool) (i : nat) : R := if E i then 1 else 0.

Lemma prob_mean : forall n p E, prob n p E = mean n p (indicator E).
Proof.
  intros n p E. apply sum_ext. intros i lt. unfold indicator. destruct (E i); lra.
Qed.

Lemma indicator_unit : forall n E, within_unit n (indicator E).
Proof. intros n E i lt. unfold indicator. destruct (E i); lra. Qed.

Lemma mean_unit : forall n p f, law n p -> within_unit n f -> 0 <= mean n p f <= 1.
Proof.
  intros n p f [nonneg one] unit. unfold mean. split.
  - apply sum_nonneg. intros i lt. destruct (unit i lt).
    apply Rmult_le_pos; [apply nonneg; lia|lra].
  - rewrite <- one. apply sum_le. intros i lt. destruct (unit i lt).
    pose proof (nonneg i lt) as p0.
    assert (step : p i * f i <= p i * 1) by (apply Rmult_le_compat_l; lra). lra.
Qed.

Lemma mean_rest : forall n p f, law n p -> mean n p (fun i => 1 - f i) = 1 - mean n p f.
Proof.
  intros n p f [_ one]. unfold mean. transitivity (sum n p - sum n (fun i => p i * f i)); [|lra].
  rewrite <- sum_minus. apply sum_ext. intros; lra.
Qed.

Lemma product_of_sums :
  forall m n f g, sum m f * sum n g = sum m (fun i => sum n (fun j => f i * g j)).
Proof.
  intros m n f g. rewrite <- sum_scal_r. apply sum_ext. intros i lt.
  symmetry. apply sum_scal.
Qed.

Lemma range_symmetric : forall n e p q, bounded_range n e p q -> bounded_range n e q p.
Proof.
  intros n e p q range i j lt_i lt_j. pose proof (range j i lt_j lt_i). lra.
Qed.

(* Not only for events: for every function between 0 and 1. *)
Lemma range_odds :
  forall n e p q f,
    law n p -> law n q -> bounded_range n e p q -> within_unit n f ->
    mean n p f * (1 - mean n q f) <= exp e * (mean n q f * (1 - mean n p f)).
Proof.
  intros n e p q f lp lq range unit.
  rewrite <- (mean_rest n q f lq), <- (mean_rest n p f lp). unfold mean.
  rewrite !product_of_sums.
  rewrite (sum_swap n n (fun i j => q i * f i * (p j * (1 - f j)))) at 1.
  rewrite (sum_swap n n (fun j i => q i * f i * (p j * (1 - f j)))).
  rewrite <- sum_scal. apply sum_le. intros i lt_i. rewrite <- sum_scal.
  apply sum_le. intros j lt_j. destruct (unit i lt_i), (unit j lt_j).
  pose proof (range i j lt_i lt_j) as step.
  assert (factor : 0 <= f i * (1 - f j)) by (apply Rmult_le_pos; lra).
  assert (both : f i * (1 - f j) * (p i * q j) <= f i * (1 - f j) * (exp e * (p j * q i)))
    by (apply Rmult_le_compat_l; assumption).
  lra.
Qed.

Lemma odds_to_factor :
  forall c x y, 1 <= c -> 0 <= x <= 1 -> 0 <= y <= 1 -> x * (1 - y) <= c * (y * (1 - x)) -> x <= c * y.
Proof.
  intros c x y c1 [x0 x1] [y0 y1] odds.
  assert (both : 0 <= (c - 1) * (x * y)).
  { apply Rmult_le_pos; [lra|]. apply Rmult_le_pos; assumption. }
  lra.
Qed.

Lemma exp_at_least_one : forall e, 0 <= e -> 1 <= exp e.
Proof.
  intros e e0. destruct (Rle_lt_or_eq_dec 0 e e0) as [more|zero].
  - pose proof (exp_ineq1 e ltac:(lra)). lra.
  - subst. rewrite exp_0. lra.
Qed.

Theorem range_is_logistic :
  forall n e p q, law n p -> law n q -> bounded_range n e p q -> logistic n e p q.
Proof.
  intros n e p q lp lq range E. rewrite !prob_mean. split.
  - apply range_odds; try assumption. apply indicator_unit.
  - apply range_odds; try assumption; [apply range_symmetric; assumption|apply indicator_unit].
Qed.

Theorem logistic_is_private :
  forall n e p q, 0 <= e -> law n p -> law n q -> logistic n e p q -> private n e p q.
Proof.
  intros n e p q e0 lp lq odds E. destruct (odds E) as [forth back].
  pose proof (exp_at_least_one e e0) as c1.
  pose proof (mean_unit n p (indicator E) lp (indicator_unit n E)) as up.
  pose proof (mean_unit n q (indicator E) lq (indicator_unit n E)) as uq.
  rewrite !prob_mean in *. split; apply odds_to_factor; assumption.
Qed.

Theorem range_is_private :
  forall n e p q, 0 <= e -> law n p -> law n q -> bounded_range n e p q -> private n e p q.
Proof.
  intros n e p q e0 lp lq range. apply logistic_is_private; try assumption.
  apply range_is_logistic; assumption.
Qed.

Lemma ln_ratio : forall x y, 0 < x -> 0 < y -> ln (x / y) = ln x - ln y.
Proof.
  intros x y x0 y0. unfold Rdiv.
  rewrite ln_mult, ln_Rinv by (try apply Rinv_0_lt_compat; assumption). ring.
Qed.

Theorem range_of_logarithms :
  forall n e p q,
    (forall i, (i < n)%nat -> 0 < p i /\ 0 < q i) ->
    (bounded_range n e p q <->
     forall i j, (i < n)%nat -> (j < n)%nat -> ln (p i / q i) - ln (p j / q j) <= e).
Proof.
  intros n e p q pos. split; intros all i j lt_i lt_j; pose proof (all i j lt_i lt_j) as step;
    destruct (pos i lt_i) as [pi qi], (pos j lt_j) as [pj qj].
  - rewrite !ln_ratio by assumption.
    assert (logs : ln (p i * q j) <= ln (exp e * (p j * q i))).
    { destruct (Rle_lt_or_eq_dec _ _ step) as [less|same]; [|rewrite same; lra].
      left. apply ln_increasing; [apply Rmult_lt_0_compat; assumption|exact less]. }
    rewrite !ln_mult, ln_exp in logs
      by (try apply exp_pos; try assumption; apply Rmult_lt_0_compat; assumption).
    lra.
  - rewrite !ln_ratio in step by assumption.
    rewrite <- (exp_ln (p i)), <- (exp_ln (q j)), <- (exp_ln (p j)), <- (exp_ln (q i)) by assumption.
    rewrite <- !exp_plus. destruct (Rle_lt_or_eq_dec (ln (p i) + ln (q j)) (e + (ln (p j) + ln (q i))) ltac:(lra)) as [less|same]; [left; apply exp_increasing; exact less|rewrite same; lra].
Qed.

(* ---- The exponential mechanism ---- *)

(* Public weights of the candidates, of which one is not zero. *)
Definition measure (n : nat) (mu : nat -> R) : Prop :=
  (forall i, (i < n)%nat -> 0 <= mu i) /\ exists i, (i < n)%nat /\ 0 < mu i.

Definition weight (mu : nat -> R) (eta : R) (s : nat -> R) (i : nat) : R := mu i * exp (eta * s i).

Definition em (n : nat) (mu : nat -> R) (eta : R) (s : nat -> R) (i : nat) : R :=
  weight mu eta s i / sum n (weight mu eta s).

(* The differences of scores change by at most D from s to s', among candidates that can be answered. *)
Definition spread (n : nat) (mu : nat -> R) (D : R) (s s' : nat -> R) : Prop :=
  forall i j, (i < n)%nat -> (j < n)%nat -> 0 < mu i -> 0 < mu j -> (s' i - s i) - (s' j - s j) <= D.

Lemma spread_symmetric : forall n mu D s s', spread n mu D s s' -> spread n mu D s' s.
Proof.
  intros n mu D s s' all i j lt_i lt_j mu_i mu_j. pose proof (all j i lt_j lt_i mu_j mu_i). lra.
Qed.

Lemma normaliser_positive : forall n mu eta s, measure n mu -> 0 < sum n (weight mu eta s).
Proof.
  intros n mu eta s [nonneg [i [lt some]]].
  assert (one : weight mu eta s i <= sum n (weight mu eta s)).
  { apply sum_term; [exact lt|]. intros j lt_j. unfold weight.
    apply Rmult_le_pos; [apply nonneg; exact lt_j|left; apply exp_pos]. }
  assert (0 < weight mu eta s i) by (apply Rmult_lt_0_compat; [exact some|apply exp_pos]).
  lra.
Qed.

Theorem em_law : forall n mu eta s, measure n mu -> law n (em n mu eta s).
Proof.
  intros n mu eta s meas. pose proof (normaliser_positive n mu eta s meas) as total. split.
  - intros i lt. unfold em, weight, Rdiv. apply Rmult_le_pos; [|left; apply Rinv_0_lt_compat; exact total].
    apply Rmult_le_pos; [apply meas; exact lt|left; apply exp_pos].
  - unfold em, Rdiv. rewrite sum_scal_r. apply Rinv_r. lra.
Qed.

(* A constant added to all scores changes nothing: gap (r) = best - score (r) gives the same law. *)
Theorem em_of_gaps :
  forall n mu eta s c i, measure n mu -> em n mu eta (fun j => s j - c) i = em n mu eta s i.
Proof.
  intros n mu eta s c i meas. pose proof (normaliser_positive n mu eta s meas) as total.
  assert (one : forall j, weight mu eta (fun k => s k - c) j = exp (- (eta * c)) * weight mu eta s j).
  { intros j. unfold weight. replace (eta * (s j - c)) with (eta * s j + - (eta * c)) by ring.
    rewrite exp_plus. ring. }
  unfold em. rewrite (sum_ext n _ (fun j => exp (- (eta * c)) * weight mu eta s j)) by (intros; apply one).
  rewrite sum_scal, one. pose proof (exp_pos (- (eta * c))). field. split; lra.
Qed.

Lemma exp_monotone : forall x y, x <= y -> exp x <= exp y.
Proof.
  intros x y le. destruct (Rle_lt_or_eq_dec x y le) as [less|same].
  - left. apply exp_increasing. exact less.
  - rewrite same. lra.
Qed.

Theorem em_bounded_range :
  forall n mu eta D s s',
    measure n mu -> 0 <= eta -> spread n mu D s s' ->
    bounded_range n (eta * D) (em n mu eta s') (em n mu eta s).
Proof.
  intros n mu eta D s s' meas eta0 all i j lt_i lt_j.
  pose proof (normaliser_positive n mu eta s meas) as total.
  pose proof (normaliser_positive n mu eta s' meas) as total'.
  assert (core : weight mu eta s' i * weight mu eta s j <=
                 exp (eta * D) * (weight mu eta s' j * weight mu eta s i)).
  { unfold weight. destruct meas as [nonneg _].
    destruct (Rle_lt_or_eq_dec 0 (mu i) (nonneg i lt_i)) as [mu_i|zero]; [|rewrite <- zero; lra].
    destruct (Rle_lt_or_eq_dec 0 (mu j) (nonneg j lt_j)) as [mu_j|zero]; [|rewrite <- zero; lra].
    assert (grows : exp (eta * s' i) * exp (eta * s j) <=
                    exp (eta * D) * (exp (eta * s' j) * exp (eta * s i))).
    { rewrite <- !exp_plus. apply exp_monotone.
      pose proof (all i j lt_i lt_j mu_i mu_j) as change.
      assert (eta * ((s' i - s i) - (s' j - s j)) <= eta * D) by (apply Rmult_le_compat_l; lra).
      lra. }
    assert (factor : 0 <= mu i * mu j) by (apply Rmult_le_pos; lra).
    pose proof (Rmult_le_compat_l _ _ _ factor grows) as both. lra. }
  unfold em, Rdiv.
  assert (factor : 0 <= / sum n (weight mu eta s') * / sum n (weight mu eta s)).
  { apply Rmult_le_pos; left; apply Rinv_0_lt_compat; assumption. }
  pose proof (Rmult_le_compat_l _ _ _ factor core) as both. lra.
Qed.

Theorem em_private :
  forall n mu eta D s s',
    measure n mu -> 0 <= eta -> 0 <= D -> spread n mu D s s' ->
    private n (eta * D) (em n mu eta s') (em n mu eta s).
Proof.
  intros n mu eta D s s' meas eta0 D0 all. apply range_is_private.
  - apply Rmult_le_pos; assumption.
  - apply em_law. exact meas.
  - apply em_law. exact meas.
  - apply em_bounded_range; assumption.
Qed.

Lemma between : forall x c, Rabs x <= c -> - c <= x <= c.
Proof.
  intros x c small. pose proof (Rle_abs x). pose proof (Rle_abs (- x)) as other.
  rewrite Rabs_Ropp in other. lra.
Qed.

(* The spread that follows from a sensitivity, and from one of scores that all move one way. *)
Theorem spread_of_sensitivity :
  forall n mu c s s',
    (forall i, (i < n)%nat -> Rabs (s' i - s i) <= c) -> spread n mu (2 * c) s s'.
Proof.
  intros n mu c s s' all i j lt_i lt_j _ _.
  pose proof (all i lt_i) as at_i. pose proof (all j lt_j) as at_j.
  apply between in at_i. apply between in at_j. lra.
Qed.

Theorem spread_of_monotonic :
  forall n mu c s s',
    (forall i, (i < n)%nat -> 0 <= s' i - s i <= c) \/ (forall i, (i < n)%nat -> - c <= s' i - s i <= 0) ->
    spread n mu c s s'.
Proof.
  intros n mu c s s' [all|all] i j lt_i lt_j _ _; pose proof (all i lt_i); pose proof (all j lt_j); lra.
Qed.

(* Balanced scores have one normaliser on all data; there the change of a score is paid for, not the spread. *)
Theorem em_balanced :
  forall n mu eta c s s',
    measure n mu -> 0 <= eta -> sum n (weight mu eta s) = sum n (weight mu eta s') ->
    (forall i, (i < n)%nat -> Rabs (s' i - s i) <= c) ->
    private n (eta * c) (em n mu eta s') (em n mu eta s).
Proof.
  intros n mu eta c s s' meas eta0 same all E.
  pose proof (normaliser_positive n mu eta s meas) as total.
  assert (one : forall t t' i, (i < n)%nat -> Rabs (t' i - t i) <= c ->
            weight mu eta t' i <= exp (eta * c) * weight mu eta t i).
  { intros t t' i lt change. apply between in change.
    assert (grows : exp (eta * t' i) <= exp (eta * c) * exp (eta * t i)).
    { rewrite <- exp_plus. apply exp_monotone.
      assert (eta * t' i <= eta * (c + t i)) by (apply Rmult_le_compat_l; lra). lra. }
    assert (mu0 : 0 <= mu i) by (apply meas; exact lt).
    pose proof (Rmult_le_compat_l _ _ _ mu0 grows). unfold weight. lra. }
  assert (event : forall t t', (forall i, (i < n)%nat -> Rabs (t' i - t i) <= c) ->
            sum n (weight mu eta t) = sum n (weight mu eta t') ->
            prob n (em n mu eta t') E <= exp (eta * c) * prob n (em n mu eta t) E).
  { intros t t' near equal. unfold prob. rewrite <- sum_scal. apply sum_le. intros i lt.
    destruct (E i); [|lra]. unfold em. rewrite <- equal. unfold Rdiv. rewrite <- Rmult_assoc.
    apply Rmult_le_compat_r; [|apply one; [exact lt|apply near; exact lt]].
    left. apply Rinv_0_lt_compat. apply normaliser_positive. exact meas. }
  split; apply event; try assumption; [|symmetry; exact same].
  intros i lt. rewrite Rabs_minus_sym. apply all. exact lt.
Qed.

(* ---- Groups: a chain of neighbours ---- *)

Lemma law_some : forall n p, law n p -> exists i, (i < n)%nat /\ 0 < p i.
Proof.
  intros n p [nonneg one]. destruct (Rlt_le_dec 0 (sum n p)) as [some|none]; [|lra]. clear one.
  induction n as [|n IH]; cbn [sum] in some; [lra|].
  destruct (Rlt_le_dec 0 (p n)) as [here|not].
  - exists n. split; [lia|exact here].
  - destruct IH as [i [lt more]]; [intros i lt; apply nonneg; lia|lra|].
    exists i. split; [lia|exact more].
Qed.

(* If no answer of one law is impossible under the next, ratios multiply; and bounded range rules that out. *)
Lemma range_step :
  forall n d e p q r,
    law n p -> law n q -> law n r -> bounded_range n d p q -> bounded_range n e q r ->
    bounded_range n (d + e) p r.
Proof.
  intros n d e p q r lp lq lr first then_ i j lt_i lt_j. rewrite exp_plus.
  assert (p0 : 0 <= p i * r j) by (apply Rmult_le_pos; [apply lp|apply lr]; assumption).
  assert (p1 : 0 <= p j * r i) by (apply Rmult_le_pos; [apply lp|apply lr]; assumption).
  pose proof (exp_pos d) as ed. pose proof (exp_pos e) as ee.
  assert (goal0 : 0 <= exp d * exp e * (p j * r i)).
  { apply Rmult_le_pos; [|exact p1]. left. apply Rmult_lt_0_compat; assumption. }
  destruct (law_some n q lq) as [l [lt_l some]].
  assert (q_i := proj1 lq i lt_i). assert (q_j := proj1 lq j lt_j).
  destruct (Rle_lt_or_eq_dec 0 (q i) q_i) as [qi|zero].
  2:{ pose proof (first i l lt_i lt_l) as step. rewrite <- zero, !Rmult_0_r in step.
      assert (p i = 0).
      { apply Rle_antisym; [|apply lp; exact lt_i].
        apply Rmult_le_reg_r with (q l); [exact some|lra]. }
      replace (p i * r j) with 0 by (rewrite H; ring). exact goal0. }
  destruct (Rle_lt_or_eq_dec 0 (q j) q_j) as [qj|zero].
  2:{ pose proof (then_ l j lt_l lt_j) as step. rewrite <- zero, Rmult_0_l, Rmult_0_r in step.
      assert (r j = 0).
      { apply Rle_antisym; [|apply lr; exact lt_j].
        apply Rmult_le_reg_l with (q l); [exact some|lra]. }
      replace (p i * r j) with 0 by (rewrite H; ring). exact goal0. }
  pose proof (first i j lt_i lt_j) as s1. pose proof (then_ i j lt_i lt_j) as s2.
  assert (qq : 0 < q i * q j) by (apply Rmult_lt_0_compat; assumption).
  apply Rmult_le_reg_l with (q i * q j); [exact qq|].
  assert (both : (p i * q j) * (q i * r j) <= (exp d * (p j * q i)) * (exp e * (q j * r i))).
  { apply Rmult_le_compat; try assumption; apply Rmult_le_pos; try lra;
      [apply lp|apply lr]; assumption. }
  lra.
Qed.

Lemma range_reflexive : forall n p, bounded_range n 0 p p.
Proof. intros n p i j _ _. rewrite exp_0. lra. Qed.

Theorem range_groups :
  forall n e k (x : nat -> nat -> R),
    (forall m, (m <= k)%nat -> law n (x m)) ->
    (forall m, (m < k)%nat -> bounded_range n e (x m) (x (S m))) ->
    bounded_range n (INR k * e) (x 0%nat) (x k).
Proof.
  intros n e k x laws steps. induction k as [|k IH].
  - replace (INR 0 * e) with 0 by (cbn; lra). apply range_reflexive.
  - rewrite S_INR. replace ((INR k + 1) * e) with (INR k * e + e) by ring.
    apply range_step with (q := x k).
    + apply laws. lia.
    + apply laws. lia.
    + apply laws. lia.
    + apply IH; [intros m le; apply laws; lia|intros m lt; apply steps; lia].
    + apply steps. lia.
Qed.

Theorem private_groups :
  forall n e k (x : nat -> nat -> R),
    (forall m, (m < k)%nat -> private n e (x m) (x (S m))) ->
    private n (INR k * e) (x 0%nat) (x k).
Proof.
  intros n e k x steps. induction k as [|k IH]; intros E.
  - replace (INR 0 * e) with 0 by (cbn; lra). rewrite exp_0. lra.
  - rewrite S_INR. replace ((INR k + 1) * e) with (INR k * e + e) by ring. rewrite exp_plus.
    destruct (IH (fun m lt => steps m (Nat.lt_lt_succ_r _ _ lt)) E) as [far far'].
    destruct (steps k (Nat.lt_succ_diag_r k) E) as [near near'].
    pose proof (exp_pos (INR k * e)) as ek. pose proof (exp_pos e) as ee. split.
    + assert (exp (INR k * e) * prob n (x k) E <= exp (INR k * e) * (exp e * prob n (x (S k)) E))
        by (apply Rmult_le_compat_l; lra).
      lra.
    + assert (exp e * prob n (x k) E <= exp e * (exp (INR k * e) * prob n (x 0%nat) E))
        by (apply Rmult_le_compat_l; lra).
      lra.
Qed.
